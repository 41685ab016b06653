import { ConnectorError } from '@penstock/connector'

/** Where so many requests in a row are refused because of what is in them, and none is taken, it is not the rows. */
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
   * Sends a request and counts what came of it: a refusal is what is thrown to be split, and what `whyRefused` gives a
   * reason for. Throws `everything_refused` once too many came in a row.
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
