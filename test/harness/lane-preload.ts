/**
 * Tells `node:test` cheaply which test runs. A lane loads this module before all others.
 *
 * Node must know the test of a new subtest, and of an error that nobody caught. It uses a hook that runs for every promise,
 * when it is created and when it is collected: that took a fifth of the processor time of the tests. Here an
 * AsyncLocalStorage keeps the test, and V8 passes it on. `node:test` reads these functions while it loads, and they are
 * replaced only for that time: other modules get the usual ones. A version of Node that does not read them is only slower.
 */
import asyncHooks, {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  type HookCallbacks,
} from 'node:async_hooks'

/** The identifier of the test, or hook of a test, whose code runs. */
const running = new AsyncLocalStorage<number>()
/** The only hook of `node:test`. It records tests by their identifiers. */
let record: HookCallbacks['init']

/** The class that tests of `node:test` extend. */
class Followed extends AsyncResource {
  override runInAsyncScope<This, Result>(
    work: (this: This, ...args: unknown[]) => Result,
    of?: This,
    ...args: unknown[]
  ): Result {
    const id = this.asyncId()
    record?.(id, 'Test', 0, this)
    return super.runInAsyncScope(() => running.run(id, () => Reflect.apply(work, of as This, args)))
  }
}

Object.assign(asyncHooks, {
  AsyncResource: Followed,
  executionAsyncId: () => running.getStore() ?? executionAsyncId(),
  createHook: ({ init }: HookCallbacks) => {
    record = init
    return { enable() {}, disable() {} }
  },
})
await import('node:test')
Object.assign(asyncHooks, { AsyncResource, executionAsyncId, createHook })
