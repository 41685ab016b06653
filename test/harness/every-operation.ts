import assert from 'node:assert/strict'
import { type OperationId, operations } from '@penstock/wire'
import { type AnyCall, addParty, callOf, scenarios } from './scenarios.ts'
import type { CallOptions, TestService } from './service.ts'

/**
 * Calls every operation of the API, each of which must succeed.
 * @param folder a local folder that the service can use
 * @param except operations that are not called
 */
export async function callEveryOperation(
  service: TestService,
  folder: string,
  except: readonly OperationId[] = [],
): Promise<void> {
  const party = await addParty(service, folder)
  for (const id of Object.keys(operations) as OperationId[]) {
    if (except.includes(id)) continue
    const call: AnyCall = await scenarios[id].prepare(party)
    const reply = await service.call(id, callOf(party, id, call) as CallOptions<never>)
    assert(reply.status < 300, `${id}: ${reply.text}`)
  }
}
