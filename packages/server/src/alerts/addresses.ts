import { type MasterKey, seal, unseal } from '../secrets/seal.ts'

/**
 * The webhook addresses at Slack and Teams. Anyone who knows an address can post to it, so addresses are sealed like secrets.
 */

export type WebhookChannel = 'slack' | 'teams'

const placeOf = (ruleId: string, channel: WebhookChannel) => ['alert rule', ruleId, channel]

export const sealAddress = (key: MasterKey, ruleId: string, channel: WebhookChannel, url: string): Buffer =>
  seal(key, placeOf(ruleId, channel), url)

export const openAddress = (key: MasterKey, ruleId: string, channel: WebhookChannel, sealed: Buffer): string =>
  unseal(key, placeOf(ruleId, channel), sealed).toString('utf8')
