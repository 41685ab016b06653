import { after } from 'node:test'
import { type Inbox, makeInbox } from './connections.ts'
import { assertInvariants } from './invariants.ts'
import { startTestService, type TestService } from './service.ts'

type Given = Parameters<typeof startTestService>
export type TestsOptions = {
  /** Settings of the service, including the settings of the inbox. */
  readonly env?: Record<string, string>
  readonly timeouts?: Given[1]
  readonly runners?: Given[2]
  /** Whether the tests must leave the invariants of the database intact. */
  readonly invariants?: boolean
}

/** Starts a service for the tests of a file, and closes it after them. */
export async function startTests({ env, timeouts, runners, invariants }: TestsOptions = {}): Promise<TestService> {
  const service = await startTestService(env, timeouts, runners)
  after(async () => {
    if (invariants) await assertInvariants(service.database.pool)
    await service.close()
  })
  return service
}

/** Starts a service with a folder that connections read from. The folder is removed after the tests. */
export async function startTestsWithInbox(
  options: TestsOptions = {},
): Promise<{ readonly service: TestService; readonly inbox: Inbox }> {
  const inbox = await makeInbox()
  const service = await startTests({ ...options, env: { ...inbox.env, ...options.env } })
  after(() => inbox.remove())
  return { service, inbox }
}
