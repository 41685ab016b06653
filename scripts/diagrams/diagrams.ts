import { lifecycle, triggers } from '@penstock/wire'
import type { Diagram, Step } from './draw.ts'

const verbs: Readonly<Record<string, string>> = {
  breakdown: 'configuration broke',
  outage: 'platform unreachable',
  recovery: 'reachable again',
}

/** Every transition that changes the status, by the table that the service and the console use. */
function transitions(): Step[] {
  const found = new Map<string, Step & { labels: string[] }>()
  for (const [from, row] of Object.entries(lifecycle)) {
    for (const trigger of triggers) {
      const transition = row[trigger]
      if (!('to' in transition) || transition.to === from) continue
      const to = transition.to === 'previous' ? 'active' : transition.to
      const label = transition.to === 'previous' ? `${trigger}, to what it was` : (verbs[trigger] ?? trigger)
      const step = found.get(`${from} ${to}`) ?? { from, to, label: '', labels: [], dashed: trigger in verbs }
      step.labels.push(label)
      found.set(`${from} ${to}`, step)
    }
  }
  return [...found.values()].map(({ labels, ...step }) => ({ ...step, label: labels.join(' or ') }))
}

/** The diagrams of the guides. `npm run diagrams` draws them. */
export const diagrams: readonly Diagram[] = [
  {
    name: 'first-transfer',
    title: 'From a connector to a transfer',
    lanes: ['You', 'Connector', 'Connection', 'Transfer'],
    steps: [
      { from: 'You', to: 'Connector', label: 'add and configure' },
      { from: 'Connector', to: 'You', label: 'check passed' },
      { from: 'You', to: 'Connection', label: 'pair a source with a destination' },
      { from: 'You', to: 'Connection', label: 'map fields, preview, activate' },
      { from: 'Connection', to: 'Transfer', label: 'run now or schedule' },
      { from: 'Transfer', to: 'You', label: 'records sent, records rejected' },
    ],
  },
  {
    name: 'lifecycle',
    title: 'The statuses of a connection',
    lanes: ['In-progress', 'active', 'broken', 'offline', 'disabled', 'deleted'],
    steps: transitions(),
  },
  {
    name: 'processes',
    title: 'Processes and what they exchange',
    lanes: ['Client', 'API process', 'PostgreSQL', 'Worker', 'Runner'],
    steps: [
      { from: 'Client', to: 'API process', label: 'start a transfer' },
      { from: 'API process', to: 'PostgreSQL', label: 'store it as queued' },
      { from: 'PostgreSQL', to: 'Worker', label: 'notice; claim' },
      { from: 'Worker', to: 'Runner', label: 'job' },
      { from: 'Runner', to: 'Worker', label: 'confirmed batch' },
      { from: 'Worker', to: 'PostgreSQL', label: 'checkpoint, counts' },
      { from: 'Client', to: 'API process', label: 'read the transfer' },
    ],
  },
  {
    name: 'embedding',
    title: 'A connect link in your product',
    lanes: ['Your customer', 'Your server', 'Penstock', 'Platform'],
    steps: [
      { from: 'Your customer', to: 'Your server', label: 'connect my shop' },
      { from: 'Your server', to: 'Penstock', label: 'create a link' },
      { from: 'Penstock', to: 'Your server', label: 'one-time URL' },
      { from: 'Your server', to: 'Your customer', label: 'open it in a frame' },
      { from: 'Your customer', to: 'Penstock', label: 'enter credentials, or sign in' },
      { from: 'Penstock', to: 'Platform', label: 'check the configuration' },
      { from: 'Penstock', to: 'Your server', label: 'event: the link is completed' },
    ],
  },
  {
    name: 'incident',
    title: 'An incident, from its rule to its end',
    lanes: ['Connection', 'Alert rule', 'Incident', 'You'],
    steps: [
      { from: 'Connection', to: 'Alert rule', label: 'condition is met' },
      { from: 'Alert rule', to: 'Incident', label: 'open' },
      { from: 'Incident', to: 'You', label: 'message' },
      { from: 'You', to: 'Incident', label: 'acknowledge', dashed: true },
      { from: 'Connection', to: 'Alert rule', label: 'condition is over' },
      { from: 'Alert rule', to: 'Incident', label: 'end' },
      { from: 'Incident', to: 'You', label: 'message' },
    ],
  },
  {
    name: 'upload',
    title: 'An uploaded file, from the upload to its deletion',
    lanes: ['You', 'Penstock', 'Transfer'],
    steps: [
      { from: 'You', to: 'Penstock', label: 'upload the file' },
      { from: 'Penstock', to: 'You', label: 'id of the file' },
      { from: 'You', to: 'Penstock', label: 'connection with upload: id' },
      { from: 'Penstock', to: 'Transfer', label: 'reads the file in pieces' },
      { from: 'Penstock', to: 'Penstock', label: 'deleted after 24 hours' },
    ],
  },
  {
    name: 'webhook-delivery',
    title: 'The delivery of an event to a webhook',
    lanes: ['Change', 'PostgreSQL', 'Worker', 'Your server'],
    steps: [
      { from: 'Change', to: 'PostgreSQL', label: 'change and its event' },
      { from: 'PostgreSQL', to: 'Worker', label: 'notice' },
      { from: 'Worker', to: 'Your server', label: 'signed POST' },
      { from: 'Your server', to: 'Worker', label: '2xx: delivered' },
      { from: 'Your server', to: 'Worker', label: 'otherwise: retry', dashed: true },
      { from: 'Worker', to: 'PostgreSQL', label: 'attempt in the log' },
    ],
  },
  {
    name: 'data-subjects',
    title: 'Finding one person in the rejected records',
    lanes: ['Operator', 'Penstock', 'Rejected records'],
    steps: [
      { from: 'Operator', to: 'Penstock', label: 'find this person' },
      { from: 'Penstock', to: 'Rejected records', label: 'search their values' },
      { from: 'Rejected records', to: 'Penstock', label: 'matches' },
      { from: 'Penstock', to: 'Operator', label: 'list of matches' },
      { from: 'Operator', to: 'Penstock', label: 'erase them', dashed: true },
      { from: 'Penstock', to: 'Penstock', label: 'audit entry' },
    ],
  },
  {
    name: 'drift',
    title: 'Changed columns stop a transfer until they are accepted',
    lanes: ['Source', 'Transfer', 'Connection', 'You'],
    steps: [
      { from: 'Source', to: 'Transfer', label: 'columns' },
      { from: 'Connection', to: 'Transfer', label: 'known columns' },
      { from: 'Transfer', to: 'Transfer', label: 'drift: ignore, continue' },
      { from: 'Transfer', to: 'Connection', label: 'drift: add, new columns to the mapping' },
      { from: 'Transfer', to: 'You', label: 'drift: stop, fails with the changes', dashed: true },
      { from: 'You', to: 'Connection', label: 'accept the changes', dashed: true },
    ],
  },
]
