/**
 * Our broker of Kafka's protocol with the topic `events`, which writes nothing to a disk. Reads BROKER_PORT. `/ready` returns its
 * address.
 */
import { createServer } from 'node:http'
import { startKafkaBroker } from '../../packages/connectors/test/kafka-broker.ts'

const broker = await startKafkaBroker()
broker.create('events', 6)
createServer((_, answer) => answer.end(broker.address)).listen(Number(process.env.BROKER_PORT), '127.0.0.1')
