import type { Batch, DestinationContext, DestinationWriter, Rejection } from '@penstock/connector'
import { type Change, groupMemberships, type Membership } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { accountName } from './accounts.ts'
import type { AudiencePlan } from './audience-plans.ts'
import { consentOfSettings } from './consent.ts'
import { destinationOf, openDataManager } from './data-manager.ts'
import { HeldRequests } from './held-requests.ts'
import { openLists } from './list-directory.ts'
import { readListRows } from './list-rows.ts'
import { Replacement } from './replacement.ts'
import { sendItems } from './send-items.ts'

/**
 * Members join and leave lists. Google takes a request as a whole or not at all, and goes through it later; the same
 * member may come twice.
 */
export async function openAudiences(context: DestinationContext, plan: AudiencePlan): Promise<DestinationWriter> {
  const { state, transferId, signal } = context
  const dataManager = openDataManager(context, plan)
  const account = accountName(plan.operating)
  const lists = new NamedAudiences(state, account, `Penstock ${transferId}`, openLists(dataManager, plan))
  const replacement = plan.replaces ? new Replacement(dataManager, context) : undefined
  const sender = { dataManager, item: 'member', refusals: new Refusals('Google') } as const
  const held = new HeldRequests({
    ...{ dataManager, item: 'member', waitMs: plan.waitMs, signal },
    deliveryState: () => replacement?.deliveryState() ?? {},
  })
  return {
    async deliver(batch) {
      held.begin()
      const { memberships, rejected } = await assign(batch, plan, lists)
      let bytes = 0
      for (const changes of groupMemberships(memberships)) {
        await replacement?.begin()
        const { audience, verb } = changes
        const sent = await sendItems(sender, requestOf(plan, verb, audience), changes.changes)
        bytes += sent.bytes
        for (const { of, reason } of sent.refused) rejected.push(...of.rows.map((index) => ({ index, reason })))
        if (!sent.taken) continue
        held.taken(sent.taken)
        if (verb === 'add') replacement?.added(audience)
      }
      return { bytes, ...(await held.delivered(batch.rows.length, rejected)), ...lists.delivered() }
    },
    flush: () => held.flush(),
    async finish() {
      await replacement?.finish()
    },
    abort: async () => {},
    close: async () => {},
  }
}

function requestOf(plan: AudiencePlan, verb: 'add' | 'remove', audience: string) {
  const consent = consentOfSettings(plan.consents)
  return {
    path: `/audienceMembers:${verb === 'add' ? 'ingest' : 'remove'}`,
    bodyOf: (changes: readonly Change<object>[]) => ({
      destinations: [destinationOf(plan, audience)],
      audienceMembers: changes.map(({ member }) => member),
      ...(plan.deviceColumn === undefined ? { encoding: 'HEX' } : {}),
      // Who leaves a list need not consent to it.
      ...(verb === 'add' ? { ...(consent ? { consent } : {}), termsOfService } : {}),
    }),
    rowsOf: ({ rows }: Change<object>) => rows,
  }
}

const termsOfService = { customerMatchTermsOfServiceStatus: 'ACCEPTED' }

/** Says for each row which list it changes, and finds or makes the lists for that. */
async function assign(
  batch: Batch,
  plan: AudiencePlan,
  lists: NamedAudiences,
): Promise<{ memberships: Membership<object>[]; rejected: Rejection[] }> {
  const { rows, rejected } = readListRows(batch, plan)
  const ids = await lists.idsOf(rows)
  const memberships: Membership<object>[] = []
  for (const { index, segmentId, segmentName, verb, member, identity } of rows) {
    const audience = segmentId ?? ids.get(segmentName)
    if (audience === undefined) {
      const reason = 'There is no list with this name to remove the person from.'
      rejected.push({ index, field: 'segment_name', reason })
    } else {
      memberships.push({ index, audience, verb, identity, member })
    }
  }
  return { memberships, rejected }
}
