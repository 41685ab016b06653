import { streamPreset } from '../event-stream/stream-preset.ts'
import { radarPreset } from './preset.ts'

/** Location events that Radar sends by webhook. */
export const radarGeoEvents = streamPreset(radarPreset)
