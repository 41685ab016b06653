import type { StreamPreset } from '../event-stream/preset-facts.ts'
import { radar } from './platform.ts'

/** Webhooks of Radar: events at geofences, places, regions, beacons and on trips. */
export const radarPreset: StreamPreset = {
  slug: 'radar-geo-events',
  name: 'Radar Geo Events',
  platform: radar,
  dataType: 'geo events',
  description:
    'Receives the location events of Radar by webhook: entries and exits of geofences, places and regions, visits, and trips.',
  notes:
    'Each configuration is an event stream. Create a write key on its page, and a webhook at Radar with its address: `https://…/events/{stream}?writeKey=…`. Enter the token of the webhook here. Both kinds of delivery work: a message with several events becomes an event for each. An event is stored once for its ID, within 76 hours. Longitude and latitude have their own columns: Radar sends them in a list, longitude first. Radar signs the ID of a message and not its content, so keep the address secret. Test and live events come from separate webhooks; the column live distinguishes them. The exact place of a person is sensitive: require a consent purpose in connections that pass it on.',
  tested: 'Webhooks as Radar’s documentation shows them, signed by our own code; not Radar itself.',
  api: { version: 'webhooks, without a version', ends: 'no end is announced' },
  sender: 'radar',
  messageIdAt: '/_id',
  unwrap: [['events', 'event']],
  columns: {
    _id: { description: 'ID of the event', type: 'text' },
    type: { description: 'Kind of event, such as user.entered_geofence', type: 'text' },
    createdAt: { description: 'Time of the event on the device', type: 'time' },
    actualCreatedAt: { description: 'Time at which Radar created the event', type: 'time' },
    live: { description: 'Whether it is of the live environment', type: 'boolean' },
    replayed: { description: 'Whether the device sent it later, after it was offline', type: 'boolean' },
    'user.userId': { description: 'Your ID of the user', type: 'text' },
    'user.deviceId': { description: 'ID of the device', type: 'text' },
    longitude: { description: 'Longitude in degrees', type: 'number', at: 'location.coordinates.0' },
    latitude: { description: 'Latitude in degrees', type: 'number', at: 'location.coordinates.1' },
    locationAccuracy: { description: 'Accuracy of the location in metres', type: 'number' },
    confidence: { description: 'Confidence of the event: 1 low, 2 medium, 3 high', type: 'integer' },
    duration: { description: 'Minutes of the visit that an exit ends', type: 'number' },
    'geofence._id': { description: 'ID of the geofence at Radar', type: 'text' },
    'geofence.tag': { description: 'Tag of the geofence', type: 'text' },
    'geofence.externalId': { description: 'Your ID of the geofence', type: 'text' },
    'geofence.description': { description: 'Description of the geofence', type: 'text' },
    'place._id': { description: 'ID of the place at Radar', type: 'text' },
    'place.name': { description: 'Name of the place', type: 'text' },
    'place.chain.slug': { description: 'Chain that the place belongs to', type: 'text' },
    'region.type': { description: 'Kind of region: country, state or another', type: 'text' },
    'region.code': { description: 'Code of the region', type: 'text' },
    'trip._id': { description: 'ID of the trip at Radar', type: 'text' },
    'trip.externalId': { description: 'Your ID of the trip', type: 'text' },
    'trip.status': { description: 'Status of the trip', type: 'text' },
    'trip.eta.duration': { description: 'Expected minutes until the arrival', type: 'number' },
  },
}
