// kafkajs behind two pipes: reads a JSON request from each line of stdin and writes a line of JSON
// to stdout in answer, one after the other, until stdin ends. No request shares a connection.
// Bytes travel as base64, and null stays null.

const readline = require('readline')
const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')
const Cluster = require('kafkajs/src/cluster')
const socketFactory = require('kafkajs/src/network/socketFactory')
const { createLogger } = require('kafkajs/src/loggers')
const consoleLogger = require('kafkajs/src/loggers/console')
const SnappyCodec = require('kafkajs-snappy')
const lz4 = require('lz4-napi')
const { ZstdCodec } = require('zstd-codec')

CompressionCodecs[CompressionTypes.Snappy] = SnappyCodec
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: encoder => lz4.compressFrame(encoder.buffer),
  decompress: buffer => lz4.decompressFrame(buffer),
})
const zstd = new Promise(resolve => ZstdCodec.run(module => resolve(new module.Streaming())))
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from((await zstd).compress(encoder.buffer)),
  decompress: async buffer => Buffer.from((await zstd).decompress(buffer)),
})

const CODECS = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 }

const decode = text => (text == null ? null : Buffer.from(text, 'base64'))
const encode = bytes => (bytes == null ? null : Buffer.from(bytes).toString('base64'))

// Where a request has them: PEM texts for TLS, and a login.
const security = ({ ssl, sasl }) => ({
  ...(ssl && { ssl }),
  ...(sasl && {
    sasl: sasl.token
      ? { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: sasl.token }) }
      : sasl,
  }),
})

const decodeHeaders = pairs => {
  const headers = {}
  for (const [name, value] of pairs) headers[name] = [...(headers[name] || []), decode(value)]
  return headers
}

const encodeHeaders = headers =>
  Object.entries(headers || {}).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).map(value => [name, encode(value)])
  )

async function produce(kafka, { topic, partition, codec, acks, messages }) {
  const producer = kafka.producer({ createPartitioner: () => () => partition, idempotent: false })
  await producer.connect()
  try {
    return await producer.send({
      topic,
      acks,
      compression: CODECS[codec],
      messages: messages.map(({ key, value, timestamp, headers }) => ({
        key: decode(key),
        value: decode(value),
        headers: decodeHeaders(headers),
        timestamp: String(timestamp),
        partition,
      })),
    })
  } finally {
    await producer.disconnect()
  }
}

// A kafkajs consumer always joins a group. Its fetcher does not need one, so this drives that.
async function consume(_, request) {
  const { broker, topic, partition, offset, count } = request
  const cluster = new Cluster({
    logger: createLogger({ level: logLevel.ERROR, logCreator: consoleLogger }),
    socketFactory: socketFactory(),
    brokers: [broker],
    clientId: 'kafkajs-fetch',
    connectionTimeout: 10000,
    metadataMaxAge: 300000,
    retry: { retries: 5 },
    isolationLevel: 0,
    ...security(request),
  })
  await cluster.connect()
  try {
    await cluster.addTargetTopic(topic)
    await cluster.refreshMetadata()
    const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
    const node = await cluster.findBroker({ nodeId })
    const found = []
    let next = BigInt(offset)
    while (found.length < count) {
      const { responses } = await node.fetch({
        maxWaitTime: 1000,
        topics: [
          { topic, partitions: [{ partition, fetchOffset: next.toString(), maxBytes: 1048576 }] },
        ],
      })
      for (const message of responses[0].partitions[0].messages) {
        if (BigInt(message.offset) < next) continue
        next = BigInt(message.offset) + 1n
        found.push({
          offset: Number(message.offset),
          key: encode(message.key),
          value: encode(message.value),
          timestamp: Number(message.timestamp),
          headers: encodeHeaders(message.headers),
        })
      }
    }
    return found
  } finally {
    await cluster.disconnect()
  }
}

async function withAdmin(kafka, work) {
  const admin = kafka.admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

const actions = {
  produce,
  consume,
  createTopic: (kafka, { topic, partitions, configs }) =>
    withAdmin(kafka, admin =>
      admin.createTopics({
        waitForLeaders: true,
        topics: [
          {
            topic,
            numPartitions: partitions,
            replicationFactor: 1,
            configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })),
          },
        ],
      })
    ),
  describeTopic: (kafka, { topic }) =>
    withAdmin(kafka, async admin => ({
      metadata: await admin.fetchTopicMetadata({ topics: [topic] }),
      offsets: await admin.fetchTopicOffsets(topic),
      topics: await admin.listTopics(),
    })),
  offsetsByTime: (kafka, { topic, timestamp }) =>
    withAdmin(kafka, admin => admin.fetchTopicOffsetsByTimestamp(topic, timestamp)),
  deleteTopic: (kafka, { topic }) =>
    withAdmin(kafka, admin => admin.deleteTopics({ topics: [topic] })),
}

async function answer(request) {
  const kafka = new Kafka({
    clientId: 'kafkajs',
    brokers: [request.broker],
    connectionTimeout: 10000,
    logLevel: logLevel.ERROR,
    retry: { retries: request.retries },
    ...security(request),
  })
  try {
    return { result: await actions[request.action](kafka, request) }
  } catch (error) {
    return { error: { name: error.name, type: error.type || null, message: error.message } }
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`)
  }
}

main()
