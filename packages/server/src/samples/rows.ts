import { showingTo } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { Refusal, refuse } from '../refusal.ts'
import { JobHost } from '../transfers/job-host.ts'
import { openSide } from '../transfers/sides.ts'
import { viewError } from '../transfers/view.ts'
import { sampleTable } from './provision.ts'
import * as queries from './queries.ts'
import type { SampleDeps } from './samples.ts'

/** The rows of a sample, which a runner reads as the role of the sample. */

const deadlineMs = 30_000

/** Reads rows of the table. Refuses with `not_found` without a sample, and with `platform_refused` if they cannot be read. */
export async function previewSample(
  { db: database, actor, account, signal }: Call<'previewSample'>,
  { catalogue, keyring, secretManagers, interactive }: SampleDeps,
): Promise<Answer<'previewSample'>> {
  const row = (await queries.findSample.first(database, { accountId: account.id })) ?? refuse('not_found')
  const connector = catalogue.listed.find(({ slug }) => slug === 'postgresql') ?? refuse('not_found')
  const side = { connector, accountId: account.id, configurationId: row.configurationId }
  const opening = { database, keyring, secretManagers }
  const result = await interactive.run(
    {
      kind: 'preview',
      source: await openSide(opening, side, { job: 'preview' }, { table: sampleTable }),
      destination: { slug: connector.slug, secrets: {}, settings: { table: sampleTable } },
      unmapped: true,
      showing: showingTo(actor, undefined),
      noAnswerMs: deadlineMs,
      inspectionMs: deadlineMs,
      deadlineMs,
    },
    account,
    signal,
    new JobHost(opening, [side]),
  )
  const ids = { srcConnectorId: connector.id, destConnectorId: connector.id }
  if (!result.ok) {
    const { side: failed = 'Source', ...failure } = result.failure
    const details = [{ field: 'sample', message: failure.message }]
    throw new Refusal('platform_refused', details, undefined, viewError({ ...failure, side: failed }, ids))
  }
  if ('fieldErrors' in result.value) return refuse('platform_refused', result.value.fieldErrors)
  return { reply: result.value.preview }
}
