// Does what it is told, a JSON line each, and answers each with a line: {"error": null or a text}.
const readline = require('readline')
const { Kafka, logLevel } = require('kafkajs')

const [servers, transactionalId] = process.argv.slice(2)
const kafka = new Kafka({ brokers: servers.split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer({
  transactionalId, maxInFlightRequests: 1, idempotent: true, retry: { retries: 5 },
})
let transaction = null

const actions = {
  connect: () => producer.connect(),
  begin: async () => { transaction = await producer.transaction() },
  send: ({ topic, value, partition }) =>
    transaction.send({ topic, acks: -1, messages: [{ value, partition }] }),
  offset: ({ topic, offset, group }) => transaction.sendOffsets({
    consumerGroupId: group,
    topics: [{ topic, partitions: [{ partition: 0, offset: String(offset) }] }],
  }),
  commit: () => transaction.commit(),
  abort: () => transaction.abort(),
}

async function main () {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    let error = null
    try {
      await actions[request.action](request)
    } catch (problem) {
      error = `${problem.name} (${problem.type}): ${problem.message}`
    }
    process.stdout.write(JSON.stringify({ error }) + '\n')
  }
  await producer.disconnect()
}

main()
