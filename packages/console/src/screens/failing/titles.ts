import { failing as say } from '../../strings/failing.ts'
import { transfer as sayTransfer } from '../../strings/transfer.ts'
import { type CauseGroup, type FailingConnection, failedSince } from './cause.ts'

const sentenceMax = 90

/** The title of a group of failing connections. */
export function titleOf({ cause: { kind, code, at }, connections }: CauseGroup): string {
  const [first] = connections
  if (kind === 'columns' && first) return say.columns(first.src.connectorName)
  if (kind === 'confirmation') return say.confirmation
  if (kind === 'waiting') return at && first?.status === 'offline' ? say.waits(at.connectorName) : say.retries
  if (at && kind !== 'connection') {
    const isBare = [first?.src, first?.dest].some((side) => side?.connectorId === at.connectorId && !side.configured)
    return isBare ? say.bare(at.connectorName) : say.atFault(at.connectorName, code)
  }
  return firstSentence(reasonOf(first))
}

/** Why a connection fails, in the words of the service. */
export const reasonOf = (connection: FailingConnection | undefined): string =>
  connection?.lastTransfer?.error?.message ?? sayTransfer.failed

function firstSentence(text: string): string {
  const [sentence = text] = text.split(/(?<=[.!?])\s/, 1)
  return sentence.length > sentenceMax ? `${sentence.slice(0, sentenceMax - 1)}…` : sentence.replace(/\.$/, '')
}

/** The names of the sub-accounts of a group, and since when it fails. */
export function whereAndSince(connections: readonly FailingConnection[]): {
  accounts: string
  since: number | undefined
} {
  const names = new Set(connections.flatMap(({ accountName }) => accountName ?? []))
  return { accounts: [...names].join(', '), since: failedSince(connections) }
}

/** Whether a text is in a name, a sub-account, a connector or the reason, in any case. */
export function matches(connection: FailingConnection & { accountName?: string }, text: string): boolean {
  const { name, accountName = '', src, dest } = connection
  const wanted = text.trim().toLowerCase()
  return [name, accountName, src.connectorName, dest.connectorName, reasonOf(connection)].some((one) =>
    one.toLowerCase().includes(wanted),
  )
}
