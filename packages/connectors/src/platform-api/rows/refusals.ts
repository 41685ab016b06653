import { ConnectorError } from '@penstock/connector'

/**
 * If this number of consecutive requests is refused because of their content, and none accepted, the rows are not the cause.
 */
export const refusalsMax = 250

/**
 * Bounds the search for bad rows. A platform that does not name them receives halves. If it refuses everything, that
 * would take two requests for each row.
 */
export class Refusals {
  readonly #platform: string
  #inARow = 0

  constructor(platform: string) {
    this.#platform = platform
  }

  /**
   * Sends a request and counts its result: refusals are errors that lead to a split, and answers for which `whyRefused` returns
   * a reason. Throws `everything_refused` after too many consecutive refusals.
   */
  async count<T>(send: () => Promise<T>, whyRefused: (answer: T) => string | undefined = () => undefined): Promise<T> {
    let answer: T
    try {
      answer = await send()
    } catch (error) {
      if (error instanceof ConnectorError && error.action === 'split') this.#refused(error.message)
      throw error
    }
    const why = whyRefused(answer)
    if (why === undefined) this.#inARow = 0
    else this.#refused(why)
    return answer
  }

  #refused(why: string): void {
    this.#inARow++
    if (this.#inARow < refusalsMax) return
    const message = `${this.#platform} refused ${refusalsMax} requests in a row, so that single rows cannot be the cause: ${why} Check the mapping and the settings of the connection, then start the transfer again.`
    throw new ConnectorError('everything_refused', message)
  }
}
