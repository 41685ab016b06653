import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { type Broker, openBroker } from './broker.ts'
import { errorOfCode, kafkaErrors } from './errors.ts'
import { accessOf, type BrokerAddress } from './settings.ts'

/** A topic as the cluster describes it. */
export type KafkaTopic = {
  readonly name: string
  readonly isInternal: boolean
  readonly error: number
  /** The leading broker of each partition, by its number. `undefined` if no broker leads it. */
  readonly leaders: readonly (number | undefined)[]
  /**
   * Operations that the user is allowed to do with it, as bits by operation number. `undefined` if the broker does not report
   * them.
   */
  readonly operations: number | undefined
}

/** A cluster within one job. Everything throws connector errors. */
export type Cluster = {
  /** Any broker, connected. */
  any(): Promise<Broker>
  /** Describes topics, or all of them. */
  topics(names?: readonly string[]): Promise<KafkaTopic[]>
  /** Describes a topic. Throws if it does not exist or is not visible to the user. */
  topic(name: string): Promise<KafkaTopic>
  /** The broker that leads a partition. Throws `platform_unavailable` if no broker leads it. */
  leader(topic: string, partition: number): Promise<Broker>
  /** The brokers of partitions are requested again. */
  forget(): void
  close(): void
}

const brokersMax = 10_000
/** No operation was requested. */
const noOperations = -(2 ** 31)

/** Connects to the first broker of the settings that answers. */
export async function openCluster(context: ConnectorContext): Promise<Cluster> {
  const access = accessOf(context.secrets)
  const connections = new Map<string, Promise<Broker>>()
  let addresses = new Map<number, BrokerAddress>()
  const leaders = new Map<string, readonly (number | undefined)[]>()

  const connected = async (address: BrokerAddress): Promise<Broker> => {
    const name = `${address.host}:${address.port}`
    const before = await connections.get(name)?.catch(() => undefined)
    if (before?.alive) return before
    const opening = openBroker(context, address, access)
    opening.catch(() => {})
    connections.set(name, opening)
    return opening
  }

  const any = async (): Promise<Broker> => {
    let last: unknown
    for (const address of access.brokers) {
      try {
        return await connected(address)
      } catch (error) {
        // Another broker would not accept the password either.
        if (!asConnectorError(error)?.isTransient) throw error
        last = error
      }
    }
    throw last
  }

  const topics = async (names?: readonly string[]): Promise<KafkaTopic[]> => {
    const broker = await any()
    const described = await broker.request(
      'metadata',
      (writer, version) => {
        if (names === undefined) writer.int32(-1)
        else writer.array(names, (name) => writer.string(name))
        // Topics are not created by asking for them.
        if (version >= 4) writer.int8(0)
        if (version >= 8) writer.int8(0).int8(1)
      },
      (reader, version) => {
        if (version >= 3) reader.int32()
        const brokers = reader.array(() => {
          const broker = [reader.int32(), { host: reader.string(), port: reader.int32() }] as const
          reader.nullableString()
          return broker
        })
        reader.nullableString()
        reader.int32()
        const found = reader.array((): KafkaTopic => {
          const error = reader.int16()
          const name = reader.string()
          const isInternal = reader.int8() !== 0
          const leaders: (number | undefined)[] = []
          const partitions = reader.array(() => {
            reader.int16()
            const [index, leader] = [reader.int32(), reader.int32()]
            if (version >= 7) reader.int32()
            reader.array(() => reader.int32())
            reader.array(() => reader.int32())
            if (version >= 5) reader.array(() => reader.int32())
            return [index, leader] as const
          })
          for (const [index, leader] of partitions) {
            if (index < 0 || index >= partitions.length) throw new RangeError('a partition without a place')
            leaders[index] = leader < 0 ? undefined : leader
          }
          const bits = version >= 8 ? reader.int32() : noOperations
          return { name, isInternal, error, leaders, operations: bits === noOperations ? undefined : bits }
        })
        return { brokers, found }
      },
    )
    if (described.brokers.length > brokersMax) throw new ConnectorError('response_too_large', 'Too many brokers.')
    addresses = new Map(described.brokers)
    for (const { name, leaders: led } of described.found) leaders.set(name, led)
    return described.found
  }

  const topic = async (name: string): Promise<KafkaTopic> => {
    const found = (await topics([name])).find((each) => each.name === name)
    const error = found?.error ?? kafkaErrors.unknownTopicOrPartition
    // A topic can be described while it has no leader.
    if (error !== 0 && error !== kafkaErrors.leaderNotAvailable) {
      throw errorOfCode(error, `the topic ${name} (DESCRIBE)`)
    }
    if (!found || found.leaders.length === 0) {
      throw new ConnectorError('platform_unavailable', `The topic ${name} has no partitions yet.`)
    }
    return found
  }

  const cluster: Cluster = {
    any,
    topics,
    topic,
    async leader(name, partition) {
      if (!leaders.has(name)) await topic(name)
      const leader = leaders.get(name)?.[partition]
      const address = leader === undefined ? undefined : addresses.get(leader)
      if (!address) {
        leaders.delete(name)
        throw new ConnectorError('platform_unavailable', `Partition ${partition} of ${name} has no leader right now.`)
      }
      return connected(address)
    },
    forget: () => leaders.clear(),
    close() {
      for (const opening of connections.values()) opening.then((broker) => broker.close()).catch(() => {})
      connections.clear()
    },
  }
  try {
    await any()
    return cluster
  } catch (error) {
    cluster.close()
    throw error
  }
}

/** Does some work with a cluster, and closes it. */
export async function inCluster<T>(context: ConnectorContext, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = await openCluster(context)
  try {
    return await work(cluster)
  } finally {
    cluster.close()
  }
}
