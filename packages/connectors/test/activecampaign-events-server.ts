import { type PlatformServer, type Reply, startPlatform } from './platform-server.ts'

/**
 * ActiveCampaign's event tracking, written from its documents: a form with one event, and a refusal with the status 200. It
 * does not know contacts of `elsewhere.example`.
 */
export type ActiveCampaignEvents = PlatformServer & { readonly events: Record<string, string>[] }

export const eventSecrets = { accountId: '25391523', eventKey: 'activecampaign-event-key' }
const said = (success: number, message: string): Reply => ({ json: { success, message } })

export async function startActiveCampaignEvents(): Promise<ActiveCampaignEvents> {
  const events: Record<string, string>[] = []
  const server = await startPlatform(({ method, path, headers, text }) => {
    if (`${method} ${path}` === 'GET /') return { text: '' }
    if (`${method} ${path}` !== 'POST /event') return { status: 404, text: '' }
    if (!/^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? '')) return { status: 415, text: '' }
    const { actid, key, event, eventdata, visit, ...others } = Object.fromEntries(new URLSearchParams(text))
    if (Object.keys(others).length > 0) return { status: 400, json: {} }
    if (actid !== eventSecrets.accountId || key !== eventSecrets.eventKey) return said(0, 'Invalid key for account')
    const { email = '', ...more } = JSON.parse(visit ?? '{}') as { email?: string }
    if (!event || Object.keys(more).length > 0 || email.endsWith('@elsewhere.example'))
      return said(0, `No contact ${email}`)
    events.push({ event, email, ...(eventdata === undefined ? {} : { eventdata }) })
    return said(1, 'Event spawned')
  })
  return Object.assign(server, { events })
}
