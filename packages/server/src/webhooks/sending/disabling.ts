import { record, serviceActor } from '../../audit/record.ts'
import { emit } from '../../events/events.ts'
import * as queries from './queries.ts'
import type { Sender } from './sender.ts'

const because = {
  gone: 'The receiver answered with the status 410 (Gone).',
  failing: 'No delivery has succeeded for a week.',
}

/** Disables a webhook, and reports it: in the audit log, to the other webhooks, and to the owners by mail where there is mail. */
export async function disable(
  { deps: { database, mailer }, leaseId, log }: Pick<Sender, 'deps' | 'leaseId' | 'log'>,
  id: string,
  reason: 'gone' | 'failing',
): Promise<void> {
  const owners = await database.transaction(async (tx) => {
    const webhook = await queries.disableWebhook.first(tx, { leaseId, id, reason })
    if (!webhook) return []
    const { organizationId, accountId, url } = webhook
    const data = { webhookId: id, url, reason }
    await emit(tx, { type: 'webhook.disabled', organizationId, accountId, connectionId: null, data })
    record(tx, {
      ...{ organizationId, actor: serviceActor, action: 'webhookDisabled', accountId, targetId: id },
      ...{ before: { enabled: true }, after: { enabled: false, disabledReason: reason } },
    })
    const found = await queries.selectOwners.all(tx, { organizationId })
    return found.map(({ email }) => ({ email, url }))
  }, serviceActor)
  log.warn({ webhookId: id, reason }, 'a webhook was disabled')
  for (const { email, url } of owners) {
    mailer.send({
      to: email,
      subject: 'A webhook was disabled',
      text: `Penstock no longer sends events to ${url}. ${because[reason]}\n\nRepair the receiver, then enable the webhook again, and replay what it missed.\n`,
    })
  }
}
