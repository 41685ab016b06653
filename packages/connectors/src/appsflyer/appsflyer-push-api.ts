import { streamPreset } from '../event-stream/stream-preset.ts'
import { appsflyerPreset } from './preset.ts'

/** Installs and in-app events that AppsFlyer sends. */
export const appsflyerPushApi = streamPreset(appsflyerPreset)
