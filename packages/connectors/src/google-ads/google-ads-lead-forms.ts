import { streamPreset } from '../event-stream/stream-preset.ts'
import { googleAdsLeadPreset } from './lead-preset.ts'

/** Leads of lead forms of Google Ads, with the answers of people. */
export const googleAdsLeadForms = streamPreset(googleAdsLeadPreset)
