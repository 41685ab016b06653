import { type MasterKey, seal, unseal } from '../secrets/seal.ts'

/** The addresses of webhooks at Slack and Teams: who has one can post, so they are sealed like secrets. */

export type WebhookChannel = 'slack' | 'teams'

const placeOf = (ruleId: string, channel: WebhookChannel) => ['alert rule', ruleId, channel]

export const sealAddress = (key: MasterKey, ruleId: string, channel: WebhookChannel, url: string): Buffer =>
  seal(key, placeOf(ruleId, channel), url)

export const openAddress = (key: MasterKey, ruleId: string, channel: WebhookChannel, sealed: Buffer): string =>
  unseal(key, placeOf(ruleId, channel), sealed).toString('utf8')
