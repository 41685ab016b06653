import { randomUUID } from 'node:crypto'
import {
  type Check,
  type ConnectorContext,
  type ConnectorError,
  checkSteps,
  createRedact,
  type DestinationContext,
  type DestinationWriter,
} from '@penstock/connector'
import { connectorErrorOf, type Endpoint, endpointOf, headersOf, objectMaker, secretsOfEndpoint } from './message.ts'
import { answerOf } from './rejections.ts'

const timeoutMs = 30_000

/** Delivers each batch as one message, which the endpoint has confirmed once it answers. There is nothing to finish. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const endpoint = endpointOf(context.secrets)
  const toObject = objectMaker(context.columns)
  const redact = createRedact(secretsOfEndpoint(endpoint))
  return {
    async deliver({ key, rows, columns }) {
      // The text is the same at every attempt, for receivers that compare whole messages and not only identifiers.
      const body = JSON.stringify({
        type: 'transfer.rows',
        timestamp: context.startedTime,
        data: { transferId: context.transferId, rows: rows.map(toObject) },
      })
      const response = await post(context, endpoint, key, body)
      const { rejected, answers } = await answerOf(response, rows, columns, redact)
      return {
        bytes: Buffer.byteLength(body),
        ...(rejected.length > 0 && { rejected }),
        ...(answers && { answers }),
      }
    },
  }
}

/**
 * Sends a message without rows, because only that shows whether the endpoint accepts messages that are signed with this secret.
 */
export const check: Check = checkSteps(
  [
    'signing secret',
    async ({ secrets }) => {
      endpointOf(secrets)
      return 'The signing secret has a valid form.'
    },
  ],
  [
    'message',
    async (context) => {
      const endpoint = endpointOf(context.secrets)
      const body = JSON.stringify({ type: 'transfer.check', timestamp: new Date().toISOString(), data: {} })
      const response = await post(context, endpoint, randomUUID().replaceAll('-', ''), body)
      await response.body?.cancel()
      return `${new URL(endpoint.url).host} accepted a message without rows.`
    },
  ],
)

/** Posts a message, and resolves with the response if it is a success. */
async function post(context: ConnectorContext, endpoint: Endpoint, id: string, body: string): Promise<Response> {
  const { egress, signal } = context
  const headers = headersOf(endpoint, id, body)
  const response = await egress.request(endpoint.url, { method: 'POST', headers, body, signal, timeoutMs })
  if (response.ok) return response
  const connectorError: ConnectorError = connectorErrorOf(response, new URL(endpoint.url).host)
  await response.body?.cancel()
  throw connectorError
}
