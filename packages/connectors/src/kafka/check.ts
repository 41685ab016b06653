import {
  asConnectorError,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type Inspect,
  type InspectionContext,
} from '@penstock/connector'
import { checkConnectivity } from '../databases/connectivity.ts'
import { type Cluster, inCluster } from './cluster.ts'
import { messageMaker } from './messages.ts'
import { boundsOf } from './partitions.ts'
import { accessOf, topicIn } from './settings.ts'

/** Bits of operations by their numbers in the protocol. */
const read = 1 << 3
const write = 1 << 4

async function connectivity(context: ConnectorContext): Promise<string> {
  let last: unknown
  for (const broker of accessOf(context.secrets).brokers) {
    try {
      return await checkConnectivity(context, broker)
    } catch (error) {
      if (!asConnectorError(error)?.isTransient) throw error
      last = error
    }
  }
  throw last
}

async function authentication(context: ConnectorContext): Promise<string> {
  await inCluster(context, (cluster) => cluster.topics([]))
  return accessOf(context.secrets).mechanism === 'none'
    ? 'The broker speaks the protocol of Kafka.'
    : 'The broker accepts the user and the password.'
}

/**
 * Checks whether the topic exists, and whether the user is allowed to do something with it, as far as the broker reports that.
 */
async function allowed(cluster: Cluster, topic: string, operation: number, name: string): Promise<string> {
  const { leaders, operations } = await cluster.topic(topic)
  if (operations !== undefined && (operations & operation) === 0) {
    throw new ConnectorError('permission_denied', `The user lacks ${name} on the topic ${topic}. Grant it.`)
  }
  return `The topic ${topic} has ${leaders.length} partitions.`
}

async function permissions(context: ConnectorContext): Promise<string> {
  const { settings } = context
  if (settings.topic === undefined) return 'A topic is checked when a connection has one.'
  const topic = topicIn(settings)
  return inCluster(context, async (cluster) => {
    const isSource = settings.startAt !== undefined || settings.valueFormat !== undefined
    const found = await allowed(cluster, topic, isSource ? read : write, isSource ? 'READ' : 'WRITE')
    if (isSource) await boundsOf(cluster, topic, settings, undefined)
    return found
  })
}

export const check = checkSteps(
  ['connectivity', connectivity],
  ['authentication', authentication],
  ['permissions', permissions],
)

/** Looks whether messages can be written where the settings say. */
export const inspect: Inspect = async (context: InspectionContext) => {
  const topic = topicIn(context.settings)
  messageMaker({ settings: context.settings, transferId: 'inspection' }, context.columns)
  await inCluster(context, (cluster) => allowed(cluster, topic, write, 'WRITE'))
  return []
}
