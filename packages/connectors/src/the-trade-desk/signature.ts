import { createHmac } from 'node:crypto'
import type { Auth } from '../kit/api.ts'

/** Sends the token of a connector, if it has one. Each request also has a signature, which is computed from its body. */
export const apiToken: Auth = {
  open: async ({ secrets: { apiToken: token } }) => ({
    renews: false,
    headers: async (): Promise<Record<string, string>> => (token === undefined ? {} : { 'ttd-auth': String(token) }),
  }),
}

/** The signature of a body, which is made of the very bytes that are sent. */
export const signatureOf = (body: string, secretKey: unknown): string =>
  createHmac('sha1', String(secretKey ?? ''))
    .update(body)
    .digest('base64')
