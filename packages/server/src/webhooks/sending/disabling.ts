import { record, serviceActor } from '../../audit/record.ts'
import { emit } from '../../events/events.ts'
import { unlinked } from '../../mail.ts'
import { countMails } from '../../organizations/mail-limit.ts'
import type { SenderContext } from './context.ts'
import * as queries from './queries.ts'

const because = {
  gone: 'The receiver answered with the status 410 (Gone).',
  failing: 'No delivery has succeeded for a week.',
}

/**
 * Disables a webhook and reports it: in the audit log, to the other webhooks, and to the owners by mail if a mail server is set
 * up. Mails are limited to one a day per webhook and by the mail limit. The log says which mails were not sent.
 */
export async function disable(
  { deps: { database, mailer }, leaseId, log }: Pick<SenderContext, 'deps' | 'leaseId' | 'log'>,
  id: string,
  reason: 'gone' | 'failing',
): Promise<void> {
  const mails = await database.transaction(async (tx) => {
    const webhook = await queries.disableWebhook.first(tx, { leaseId, id, reason })
    if (!webhook) return undefined
    const { organizationId, accountId, url, mailIsDue } = webhook
    const data = { webhookId: id, url, reason }
    await emit(tx, { type: 'webhook.disabled', organizationId, accountId, connectionId: null, data })
    record(tx, {
      organizationId,
      actor: serviceActor,
      action: 'webhookDisabled',
      accountId,
      targetId: id,
      before: { enabled: true },
      after: { enabled: false, disabledReason: reason },
    })
    const owners = mailIsDue ? await queries.selectOwners.all(tx, { organizationId }) : []
    const recipients = owners.map(({ email }) => email)
    const { allowed, limited } = await countMails(tx, { organizationId, kind: 'webhookDisabled', recipients })
    return { allowed, limited, host: new URL(url).host }
  }, serviceActor)
  if (!mails) return
  const { allowed, limited, host } = mails
  log.warn({ webhookId: id, reason, mails: allowed.length, mailsLimited: limited.length }, 'a webhook was disabled')
  for (const to of allowed) {
    mailer.send({
      to,
      subject: 'A webhook was disabled',
      text: `Penstock no longer sends events to the webhook ${id} at ${unlinked(host)}. ${because[reason]}\n\nRepair the receiver, then enable the webhook again, and replay what it missed.\n`,
    })
  }
}
