import { createHmac, randomBytes } from 'node:crypto'
import type { WebhookAttempt } from '@penstock/wire'
import { type MasterKey, seal, unseal, unsealJson } from '../secrets/seal.ts'

/** The secrets of webhooks: how they look, how they are sealed, and how they sign (Standard Webhooks). */

const prefix = 'whsec_'
const secretBytes = 32

/** A new secret, as the receiver is given it. */
export const newWebhookSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

const placeOfSecret = (webhookId: string) => ['webhook secret', webhookId]
export const sealWebhookSecret = (key: MasterKey, webhookId: string, secret: string): Buffer =>
  seal(key, placeOfSecret(webhookId), secret)
export const openWebhookSecret = (key: MasterKey, webhookId: string, sealed: Buffer): string =>
  unseal(key, placeOfSecret(webhookId), sealed).toString()

/** Response of a receiver, which can contain anything. */
export type SealedAnswer = Pick<WebhookAttempt, 'headers' | 'body'>
const placeOfAnswer = (deliveryId: string, number: number) => ['webhook answer', deliveryId, String(number)]
export const sealAnswer = (key: MasterKey, deliveryId: string, number: number, answer: SealedAnswer): Buffer =>
  seal(key, placeOfAnswer(deliveryId, number), JSON.stringify(answer))
export const openAnswer = (key: MasterKey, deliveryId: string, number: number, sealed: Buffer): SealedAnswer =>
  unsealJson(key, placeOfAnswer(deliveryId, number), sealed) as SealedAnswer

/**
 * The headers that a message is sent with.
 * @param secrets the present secret and, during a rotation, the previous one
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, time, body }: { id: string; time: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(time.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
