import { asConnectorError, type ConnectorErrorCode, type Suggestion } from './connector-error.ts'
import type { ConnectorContext } from './context.ts'

/** One step of a check, for people. */
export type CheckStep = {
  /** `connectivity`, `authentication`, `permissions`, or the platform's own word. */
  readonly name: string
  readonly ok: boolean
  readonly message: string
  /** If the step failed. */
  readonly code?: ConnectorErrorCode
  /** A value for a field with which the step can succeed, for a person to confirm. */
  readonly suggestion?: Suggestion
}

/** Tries a connector's secrets at its platform, and changes nothing there. Resolves with the result of each step. */
export type Check = (context: ConnectorContext) => Promise<readonly CheckStep[]>

/**
 * Creates a check of named steps that build on each other: the first step that throws ends it, with its message. A step
 * resolves with a sentence about its result.
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
        const { message, code, suggestion } = connectorError
        found.push({ name, ok: false, message, code, ...(suggestion && { suggestion }) })
        break
      }
    }
    return found
  }
