import { asConnectorError, type ConnectorErrorCode } from './connector-error.ts'
import type { ConnectorContext } from './context.ts'

/** One step of a check, as a person reads it. */
export type CheckStep = {
  /** `connectivity`, `authentication`, `permissions`, or what the platform calls it. */
  readonly name: string
  readonly ok: boolean
  readonly message: string
  /** Of a step that failed. */
  readonly code?: ConnectorErrorCode
}

/** Tries a connector's secrets against its platform; changes nothing there. Resolves with what each step found. */
export type Check = (context: ConnectorContext) => Promise<readonly CheckStep[]>

/**
 * Makes a check of named steps that build on each other: the first that throws ends it, with its message.
 * A step answers the sentence that says what was found.
 */
export const checkSteps =
  (...steps: readonly (readonly [name: string, run: (context: ConnectorContext) => Promise<string>])[]): Check =>
  async (context) => {
    const found: CheckStep[] = []
    for (const [name, run] of steps) {
      try {
        found.push({ name, ok: true, message: await run(context) })
      } catch (error) {
        const connectorError = asConnectorError(error)
        if (!connectorError) throw error
        found.push({ name, ok: false, message: connectorError.message, code: connectorError.code })
        break
      }
    }
    return found
  }
