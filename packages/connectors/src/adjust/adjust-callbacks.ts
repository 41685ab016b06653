import { streamPreset } from '../event-stream/stream-preset.ts'
import { adjustPreset } from './preset.ts'

/** Installs and in-app events for which Adjust calls an address. */
export const adjustCallbacks = streamPreset(adjustPreset)
