export const snippetKinds = ['curl', 'node', 'website', 'pixel'] as const
export type SnippetKind = (typeof snippetKinds)[number]

type Place = { readonly address: string; readonly host: string; readonly key: string }

/** Code that sends an event to a stream, with the libraries of Segment unchanged but for the host. */
export function snippetOf(kind: SnippetKind, { address, host, key }: Place): string {
  switch (kind) {
    case 'curl':
      return `curl -X POST '${address}' \\
  -u '${key}:' -H 'Content-Type: application/json' \\
  -d '{"messageId": "order-7", "event": "Order Completed", "userId": "u1"}'`
    case 'node':
      return `// npm install @segment/analytics-node
${importOf('Analytics', '@segment/analytics-node')}

const analytics = new Analytics({
  writeKey: '${key}',
  host: '${host}',
})
analytics.track({ userId: 'u1', event: 'Order Completed' })
await analytics.closeAndFlush()`
    case 'website':
      return `// npm install @segment/analytics-next
${importOf('AnalyticsBrowser', '@segment/analytics-next')}

const analytics = AnalyticsBrowser.load({
  writeKey: '${key}',
  cdnURL: '${host}',
})
analytics.track('Order Completed')`
    case 'pixel':
      return `<img alt="" src="${address}/pixel.gif?writeKey=${key}&event=Viewed">`
  }
}

const importOf = (name: string, library: string): string => `import { ${name} } from '${library}'`
