import { asConnectorError, type Chunk, ConnectorError, type Json } from '@penstock/connector'
import { afterIn, placeIn, type Spot, withoutPlace } from '../../databases/checkpoints.ts'
import { chunksOf, type Order, type ReadRow } from '../../databases/chunks.ts'

/** Reading from data warehouses, which keep the result of a statement for a day and give it page by page. */

/**
 * Rows of a result. With `place`, the rows after it. Otherwise the rows of a new statement that begins at `from`. Throws
 * `resultGone` if the database no longer keeps the result.
 */
export type RowsOf = (from: Spot, place: Json | undefined) => AsyncIterable<readonly ReadRow[]>

const goneCode = 'result_expired'

/** The result that a place names is not there any more. An engine that tries again gets rows of a new statement. */
export const resultGone = (platform: string): ConnectorError =>
  new ConnectorError(goneCode, `${platform} no longer keeps this result, so the rows are requested again.`)

/**
 * Reads the rows behind a checkpoint, or from the beginning. As long as the result is kept, reading continues in it, and so
 * sees the data of the time when the statement ran. Afterwards the statement runs again, for the rows after the last one.
 */
export async function* readCachedResult(
  order: Order,
  beginning: Spot,
  after: Json | undefined,
  rowsOf: RowsOf,
): AsyncGenerator<Chunk> {
  let checkpoint = after
  while (true) {
    const spot = afterIn(checkpoint, order.orderNames.length) ?? beginning
    const place = placeIn(checkpoint)
    try {
      // Rows of the spot itself are repeated only by a new statement.
      const repeated = place === undefined ? spot.skip : 0
      for await (const chunk of chunksOf(order, spot, rowsOf(spot, place), repeated)) {
        yield chunk
        checkpoint = chunk.checkpoint
      }
      return
    } catch (error) {
      // Each new statement continues after some rows, or at most once without rows, so this ends.
      if (asConnectorError(error)?.code !== goneCode || placeIn(checkpoint) === undefined) throw error
      checkpoint = withoutPlace(checkpoint)
    }
  }
}
