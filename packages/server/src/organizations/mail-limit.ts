import { createHash } from 'node:crypto'
import type { Transaction } from '../db/database.ts'
import * as queries from './mail-queries.ts'

/**
 * Limits the mails that tenants can make the operator's mail server send. There is one count per organization and one per
 * recipient, over all kinds of mail and all processes. Counts are independent of the resource that a mail is about, so deleting
 * the resource does not reset them.
 */

export type MailKind = 'passwordReset' | 'invitation' | 'alert' | 'webhookDisabled' | 'alertTest'

/**
 * Mails per hour. A mail is allowed while its organization and its recipient have had fewer mails of any kind than the number
 * for its kind. So less important mails stop first, and leave room for mails that people wait for.
 */
export const mailsMax: Readonly<Record<MailKind, { readonly ofOrganization: number; readonly toRecipient: number }>> = {
  passwordReset: { ofOrganization: 200, toRecipient: 30 },
  invitation: { ofOrganization: 200, toRecipient: 25 },
  alert: { ofOrganization: 150, toRecipient: 20 },
  webhookDisabled: { ofOrganization: 150, toRecipient: 20 },
  alertTest: { ofOrganization: 50, toRecipient: 10 },
}
/** Invitations to one address in an hour, from all organizations together. */
const invitationsToAddressMax = 5

export type CountedMails = {
  /** The recipients that a mail can be sent to. */
  readonly allowed: readonly string[]
  /** The others. */
  readonly limited: readonly string[]
  /** Seconds until the next mail can be allowed. 0 if no mail was limited. */
  readonly retrySeconds: number
}

type Mails = { readonly organizationId: string; readonly kind: MailKind; readonly recipients: readonly string[] }

/**
 * Counts a mail to each recipient, and returns the recipients within the limit. Mails beyond the limit are not counted.
 */
export async function countMails(tx: Transaction, mails: Mails): Promise<CountedMails> {
  const { recipients } = mails
  if (recipients.length === 0) return { allowed: [], limited: [], retrySeconds: 0 }
  const bounds = await boundsOf(tx, mails)
  const keys = [...new Set([...bounds.values()].flatMap((all) => all.map(({ key }) => key)))]
  const rows = await queries.lockCounts.all(tx, { keys })
  const counts = new Map(rows.map(({ key, mails, secondsLeft }) => [key, { mails, secondsLeft, added: 0 }]))
  const [allowed, limited]: [string[], string[]] = [[], []]
  let retrySeconds = 0
  for (const recipient of recipients) {
    const of = (bounds.get(recipient) ?? []).flatMap(({ key, most }) => {
      const count = counts.get(key)
      return count ? [{ count, most }] : []
    })
    const full = of.filter(({ count, most }) => count.mails + count.added >= most)
    if (full.length > 0) {
      const seconds = Math.max(...full.map(({ count }) => count.secondsLeft))
      retrySeconds = retrySeconds === 0 ? seconds : Math.min(retrySeconds, seconds)
      limited.push(recipient)
    } else {
      for (const { count } of of) count.added++
      allowed.push(recipient)
    }
  }
  const added = [...counts].filter(([, count]) => count.added > 0).map(([key, count]) => ({ key, mails: count.added }))
  if (added.length > 0) await queries.addToCounts.run(tx, { added: JSON.stringify(added) })
  return { allowed, limited, retrySeconds }
}

/** Subtracts a mail that was counted but could not be sent. */
export async function uncountMail(
  tx: Transaction,
  mail: Omit<Mails, 'recipients'> & { recipient: string },
): Promise<void> {
  const { recipient, ...of } = mail
  const bounds = await boundsOf(tx, { ...of, recipients: [recipient] })
  const keys = (bounds.get(recipient) ?? []).map(({ key }) => key)
  await queries.lockCounts.all(tx, { keys })
  await queries.addToCounts.run(tx, { added: JSON.stringify(keys.map((key) => ({ key, mails: -1 }))) })
}

/**
 * The counts that limit mails to each recipient. A member of the organization has a separate count there, so that another
 * organization cannot use up the mails that the person gets from their own.
 */
async function boundsOf(tx: Transaction, { organizationId, kind, recipients }: Mails) {
  const emails = recipients.map((recipient) => recipient.toLowerCase())
  const members = new Set((await queries.selectMembers.all(tx, { organizationId, emails })).map(({ email }) => email))
  const { ofOrganization, toRecipient } = mailsMax[kind]
  return new Map(
    recipients.map((recipient) => {
      const mailbox = digestOf(recipient)
      const isMember = kind !== 'invitation' && members.has(recipient.toLowerCase())
      const bounds = [
        { key: `organization ${organizationId}`, most: ofOrganization },
        { key: `recipient ${isMember ? `${organizationId} ` : ''}${mailbox}`, most: toRecipient },
      ]
      if (kind === 'invitation') bounds.push({ key: `invitations ${mailbox}`, most: invitationsToAddressMax })
      return [recipient, bounds]
    }),
  )
}

/** The digest of a mailbox: without what follows a plus sign, which reaches the same one at most servers. */
function digestOf(address: string): string {
  const [local = '', domain = ''] = address.toLowerCase().split(/@(?=[^@]*$)/)
  return createHash('sha256')
    .update(`${local.replace(/\+.*$/, '')}@${domain}`)
    .digest('base64url')
}
