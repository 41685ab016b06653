import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An authorization server whose refresh tokens can be used one time. For the server, a token that is used again was stolen. So
 * it revokes all tokens that were derived from it, as platforms do.
 */
export type RotatingTokens = {
  readonly url: string
  /** The refresh token that it accepts at present. `undefined` if all are revoked. */
  readonly current: string | undefined
  /** How many it has exchanged. */
  readonly exchanges: number
  /** A person signs in again. Returns the first refresh token of a new family. */
  signIn(): string
  /**
   * Holds the next request after it was counted, before it is answered.
   * @returns what resolves once it has come, and what has it answered
   */
  hold(): { came: Promise<void>; answer(): void }
  close(): Promise<void>
}

export async function startRotatingTokens(): Promise<RotatingTokens> {
  let family = 0
  let number = 0
  let exchanges = 0
  let isRevoked = false
  let held: { came: PromiseWithResolvers<void>; answer: PromiseWithResolvers<void> } | undefined
  const nameOf = () => `refresh-token-${family}-${number}`
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const form = new URLSearchParams(text)
    const isAsked = request.method === 'POST' && form.get('grant_type') === 'refresh_token'
    if (isAsked && form.get('refresh_token') !== nameOf()) isRevoked = true
    const isGranted = isAsked && !isRevoked
    if (isGranted) {
      number++
      exchanges++
    }
    const granted = {
      access_token: `access.${family}.${number}.of-the-test`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: nameOf(),
    }
    const holding = held
    held = undefined
    holding?.came.resolve()
    await holding?.answer.promise
    response.writeHead(isGranted ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isGranted ? granted : { error: isAsked ? 'invalid_grant' : 'invalid_request' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    get current() {
      return isRevoked ? undefined : nameOf()
    },
    get exchanges() {
      return exchanges
    },
    signIn: () => {
      family++
      number = 0
      isRevoked = false
      return nameOf()
    },
    hold: () => {
      const made = { came: Promise.withResolvers<void>(), answer: Promise.withResolvers<void>() }
      held = made
      return { came: made.came.promise, answer: () => made.answer.resolve() }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
