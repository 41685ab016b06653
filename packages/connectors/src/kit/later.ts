import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import type { SentItem } from '../platform-api/rows/row-results.ts'

/** The results of requests that a platform accepts immediately and processes later. */
export type Later = {
  /**
   * Called with each accepted request. Throws `malformed_response` if the answer does not name the request.
   * @param items the people or events of the request, in its order, with their rows, and with their keys if the facts say what
   * identifies a person
   * @param to the audience that people were added to or removed from
   */
  readonly accepted: (
    answer: Answer,
    items: readonly SentItem[],
    to?: { readonly audience: string; readonly verb: 'add' | 'remove' },
  ) => void
  /** The writer with what follows a delivery: it holds batches, and reports their results. */
  readonly writer: (writer: DestinationWriter) => DestinationWriter
}

/** Opens it for one writer. Load its code when it is called. */
export type OpenLater = (client: PlatformClient, context: DestinationContext) => Promise<Later>
