import { lookAtAll } from '../../packages/server/src/alerts/keep.ts'
import type { Caller } from './fixtures.ts'
import type { TestService } from './service.ts'
import { until } from './until.ts'

/** Alert rules and incidents, for tests in which no worker runs. */

/** One round of a worker. */
export const lookAtAlerts = ({ database, service }: Pick<TestService, 'database' | 'service'>): Promise<void> =>
  lookAtAll({ database, catalogue: service.deps.catalogue, mailer: service.deps.mailer })

/** A rule of a sub-account in which a transfer rejected records, and the incident that it opens. */
export async function addIncident(
  service: Pick<TestService, 'database' | 'service'>,
  caller: Caller,
  accountId: string,
): Promise<{ ruleId: string; incidentId: string }> {
  const body = { name: 'Rejected', accountId, conditions: { rejectedPercent: 1 }, emails: ['data@example.com'] }
  const { id: ruleId } = await caller.expect(caller.call('createAlertRule', { body }))
  return until('the incident is opened', async () => {
    await lookAtAlerts(service)
    const [incident] = await caller.expect(caller.call('listAlertIncidents', { accountId, query: { ruleId } }))
    return incident && { ruleId, incidentId: incident.id }
  })
}
