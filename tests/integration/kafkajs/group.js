// A kafkajs consumer in a group, told what to do by one JSON argument; prints a JSON line for
// every change of its assignment and for every batch that it has read and committed.
const { Kafka, PartitionAssigners, logLevel } = require('kafkajs')

const job = JSON.parse(process.argv[2])
const tell = (event, what) => process.stdout.write(JSON.stringify({ event, ...what }) + '\n')

const kafka = new Kafka({ clientId: job.name, brokers: [job.servers], logLevel: logLevel.NOTHING })
const consumer = kafka.consumer({
  groupId: job.group,
  sessionTimeout: job.session_ms,
  heartbeatInterval: 200,
  rebalanceTimeout: 10000,
  maxWaitTimeInMs: 50,
  metadataMaxAge: 500,
  partitionAssigners: [PartitionAssigners.roundRobin],
  retry: { retries: 10, initialRetryTime: 100 },
})

consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  const partitions = Object.entries(payload.memberAssignment)
    .flatMap(([topic, numbers]) => numbers.map(number => [topic, number]))
    .sort()
  tell('assigned', { partitions })
})
consumer.on(consumer.events.REBALANCING, () => tell('revoked', { partitions: [] }))

async function main () {
  await consumer.connect()
  const topics = job.topics.map(topic => (topic.startsWith('^') ? new RegExp(topic) : topic))
  await consumer.subscribe({ topics, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      const records = batch.messages.map(m => [batch.topic, batch.partition, Number(m.offset)])
      const next = String(BigInt(batch.lastOffset()) + 1n)
      await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: next }])
      tell('read', { records })
    },
  })
}

process.on('SIGTERM', async () => {
  await consumer.disconnect()
  process.exit(0)
})
main()
