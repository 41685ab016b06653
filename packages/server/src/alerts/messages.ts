import { type TransferErrorCode, transferErrors } from '@penstock/wire'
import { unlinked } from '../mail.ts'
import type { AlertContent, AlertItem } from './content.ts'
import { reasons } from './reasons.ts'

/**
 * The messages of alerts: what happened, where, since when, what to do, and a link into the console. Tenants choose the names
 * in a message, and the recipients did not choose the tenants. So a name cannot create a link, a mention, a heading or another
 * line.
 */

/** A message without a layout. Each channel adds its own. */
export type AlertMessage = {
  readonly title: string
  readonly lines: readonly string[]
  /** Into the console. */
  readonly link: { readonly text: string; readonly url: string }
  readonly footer: string
}

const titleLengthMax = 150
const nameLengthMax = 80

const over = {
  recovered: 'It works again',
  stopped: 'The connection was disabled or deleted',
  rule_changed: 'The rule no longer checks this',
}

export function messageOf(content: AlertContent, publicUrl: string): AlertMessage {
  const { kind, accountId, ruleName, items, total } = content
  const list = `${publicUrl}${accountId === null ? '' : `/accounts/${accountId}`}/alerts`
  const rule = `Alert rule: ${nameOf(ruleName)}.`
  if (kind === 'test') {
    return {
      title: `Test of the alert rule ${nameOf(ruleName)}`,
      lines: ['This is a test. Messages about incidents of this rule arrive here.'],
      link: { text: 'Open the alerts in Penstock', url: list },
      footer: rule,
    }
  }
  const [first] = items
  const footer = `${rule} To mute or change it, open the alerts in Penstock: one message comes when an incident begins, one when it is over.`
  if (first && total === 1) return { ...aboutOne(first, kind, publicUrl), footer }
  const title = kind === 'opened' ? `${total} connections need attention` : `${total} incidents are over`
  const groups = content.groups.map(
    ({ count, like }) => `${count} × ${kind === 'opened' ? causeOf(like) : overOf(like)}`,
  )
  const named = items.map(
    (item) => `${nameOf(item.connectionName)} in ${nameOf(item.accountName)}, ${timeOf(item.until ?? item.since)}`,
  )
  const more = total > items.length ? [`and ${total - items.length} more`] : []
  return {
    title,
    lines: [...groups, ...named, ...more],
    link: { text: 'Open the alerts in Penstock', url: list },
    footer,
  }
}

function aboutOne(item: AlertItem, kind: 'opened' | 'resolved', publicUrl: string): Omit<AlertMessage, 'footer'> {
  const where = `${nameOf(item.connectionName)} in ${nameOf(item.accountName)}`
  const connection = `${publicUrl}/accounts/${item.accountId}/connections/${item.connectionId}`
  if (kind === 'resolved') {
    return {
      title: cut(`Resolved: ${where}`),
      lines: [
        `${overOf(item)}: connection ${where}.`,
        `Since ${timeOf(item.since)}, until ${timeOf(item.until ?? item.since)}.`,
      ],
      link: { text: 'Open the connection in Penstock', url: connection },
    }
  }
  return {
    title: cut(`${worstOf(item).what}: ${where}`),
    lines: [
      causeOf(item),
      ...(item.numbers ?? []),
      `Connection ${where}, since ${timeOf(item.since)}.`,
      ...placeOf(item),
      ...(item.ownerName ? [`Owner: ${nameOf(item.ownerName)}.`] : []),
      `What to do: ${todoOf(item)}`,
    ],
    link:
      item.transferId === null
        ? { text: 'Open the connection in Penstock', url: connection }
        : { text: 'Open the transfer in Penstock', url: `${connection}/transfers/${item.transferId}` },
  }
}

/**
 * The cause of an incident. Of an error, only the meaning of its code: messages of a platform can quote request data.
 */
function causeOf(item: AlertItem): string {
  const happened = worstOf(item).what
  const error = errorOf(item.errorCode)
  if (!error) return `${happened}.`
  return `${happened}. ${item.platform === null ? '' : `${item.platform}: `}${error.when}`
}
/** The table and the columns, if the incident is about some. */
function placeOf({ table, columns = [] }: AlertItem): string[] {
  const parts = [
    ...(table ? [`Table ${nameOf(table)}`] : []),
    ...(columns.length > 0 ? [`${columns.length === 1 ? 'column' : 'columns'} ${columns.map(nameOf).join(', ')}`] : []),
  ]
  const [first = '', ...rest] = parts
  return first === '' ? [] : [`${[first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(', ')}.`]
}

const overOf = ({ resolution }: AlertItem): string => over[resolution ?? 'recovered']

const todoOf = (item: AlertItem): string => errorOf(item.errorCode)?.todo ?? worstOf(item).todo

const worstOf = ({ reasons: [worst = 'transfer_failed'] }: AlertItem) => reasons[worst]

const errorOf = (code: string | null) =>
  code !== null && Object.hasOwn(transferErrors, code) ? transferErrors[code as TransferErrorCode] : undefined

/** A name in quotes, in one line, of which no reader makes a link. */
export function nameOf(name: string): string {
  const line = name.replaceAll(/\s+/gu, ' ').trim()
  const characters = [...line]
  const short = characters.length > nameLengthMax ? `${characters.slice(0, nameLengthMax - 1).join('')}…` : line
  return `“${unlinked(short)}”`
}

const cut = (title: string) => {
  const characters = [...title]
  return characters.length > titleLengthMax ? `${characters.slice(0, titleLengthMax - 1).join('')}…` : title
}

const timeOf = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
