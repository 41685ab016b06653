import { ConnectorError, type DestinationContext, type DestinationWriter } from '@penstock/connector'
import { evaluate, isEmpty, isTrue } from '@penstock/expressions/json'
import type { Later } from '../../kit/later.ts'
import type { Answer } from '../../platform-api/call.ts'
import { type PlatformClient, wait } from '../../platform-api/client.ts'
import { countsOf, type RowBlame, rejectionsOf, type SentItem } from '../../platform-api/rows/row-results.ts'
import { scopeOfAnswer } from '../api/answers.ts'
import { explained } from '../api/api.ts'
import { callOf } from '../api/operation-request.ts'
import type { ApiServers } from '../api/servers.ts'
import type { Shield } from '../api/shield.ts'
import type { LaterResult } from '../definition/definition.ts'
import type { TemplateValues } from '../definition/template.ts'
import { blamedIn, isTaken, refusalOf, takenIn } from './verdicts.ts'

const none = { blamed: new Map<number, never>(), unnamed: [] }

type Accepted = { readonly job: unknown; readonly items: readonly SentItem[] }

/**
 * Waits for the results of accepted requests before a batch is confirmed, so that rejected rows are named. A worker that dies
 * meanwhile sends the batch again.
 */
export function openPolling(
  later: LaterResult,
  servers: ApiServers,
  client: PlatformClient,
  { signal }: DestinationContext,
  { shield, always }: { readonly shield: Shield; readonly always: TemplateValues },
): Later {
  let accepted: Accepted[] = []
  const scopeOf = (answer: Answer, job?: unknown) => ({
    ...always,
    ...(job !== undefined && { job }),
    ...scopeOfAnswer(answer, answer.json),
  })

  async function answerOf(job: unknown): Promise<Answer> {
    const endMs = performance.now() + later.waitSeconds * 1000
    for (;;) {
      const answer = shield.answer(
        await client.ask({ ...callOf(servers, later, { ...always, job }), repeatable: true }),
      )
      const scope = scopeOf(answer, job)
      if (later.failed !== undefined && isTrue(evaluate(later.failed, scope, Date.now()))) {
        throw new ConnectorError(
          'platform_error',
          'The API could not process a request, as the definition says; it is sent again.',
        )
      }
      if (isTrue(evaluate(later.done, scope, Date.now()))) {
        if (!later.from) return answer
        return shield.answer(await client.ask(callOf(servers, { ...later.from, method: 'GET' }, { ...always, job })))
      }
      if (performance.now() > endMs) {
        const message = `The API had no result of a request within ${later.waitSeconds} seconds. Raise waitSeconds in the definition if it needs longer.`
        throw new ConnectorError('platform_error', message)
      }
      await wait(later.everySeconds * 1000, signal)
    }
  }

  async function blamesOf({ job, items }: Accepted): Promise<readonly RowBlame[]> {
    const { result } = later
    const answer = await answerOf(job)
    if (!isTaken(result, answer, { ...always, job })) {
      const reason = refusalOf(result, answer, { ...always, job })
      return [{ count: items.length, reason }]
    }
    const taken = takenIn(result, answer, { ...always, job })
    if (taken !== undefined && taken < items.length) {
      return [{ count: items.length - taken, reason: refusalOf(result, answer, { ...always, job }) }]
    }
    const sent = items.map(() => ({ row: undefined, cells: {} }))
    const { blamed, unnamed } = blamedIn(result.rows, answer, { ...always, job }, sent) ?? none
    return [
      ...[...blamed].map(([at, why]) => ({ at, ...(typeof why === 'string' ? { reason: why } : why) })),
      ...countsOf(unnamed),
    ]
  }

  const writer = (inner: DestinationWriter): DestinationWriter => ({
    async deliver(batch) {
      accepted = []
      const delivery = await inner.deliver(batch)
      const rejected = [...(delivery.rejected ?? [])]
      for (const one of accepted) rejected.push(...rejectionsOf(one.items, await explained(() => blamesOf(one))))
      return { ...delivery, rejected }
    },
  })
  return {
    accepted(answer, items) {
      const job = evaluate(later.job, scopeOf(shield.answer(answer)), Date.now())
      if (isEmpty(job))
        throw new ConnectorError('malformed_response', 'The API did not answer with the name of the result.')
      accepted.push({ job, items })
    },
    writer,
  }
}
