import { type FieldError, readableOn } from '@penstock/wire'
import { requireAllAccounts } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { refuseFieldErrors } from '../refusal.ts'
import { readOrigin } from './addresses.ts'
import { contrastError, readLogo } from './look.ts'
import { findBranding, saveBranding } from './queries.ts'
import { viewBranding } from './view.ts'

/** How the pages of an organization's connect links look, and which sites can show them in a frame. */

export async function getBranding({ db, actor }: Call<'getBranding'>): Promise<Answer<'getBranding'>> {
  requireAllAccounts(actor)
  return { reply: viewBranding(await findBranding.first(db, { organizationId: actor.organizationId })) }
}

/** Replaces all of the branding. Refuses values that cannot be parsed, and images that contain more than a picture. */
export async function setBranding({ db: tx, actor, body }: Call<'setBranding'>): Promise<Answer<'setBranding'>> {
  requireAllAccounts(actor)
  const { organizationId } = actor
  const before = viewBranding(await findBranding.first(tx, { organizationId }))
  const { name, logo, colours, allowedOrigins = [] } = body
  const fieldErrors: FieldError[] = []
  const read = logo ? readLogo(logo) : { logo: null }
  if ('message' in read) fieldErrors.push({ field: 'body.logo', message: read.message })
  const text = colours && (colours.text ?? readableOn(colours.primary))
  const contrast = colours && text && contrastError(colours.primary, text)
  if (contrast) fieldErrors.push({ field: 'body.colours.text', message: contrast })
  const origins = allowedOrigins.map(readOrigin)
  for (const [index, origin] of origins.entries()) {
    if ('message' in origin) fieldErrors.push({ field: `body.allowedOrigins.${index}`, message: origin.message })
  }
  refuseFieldErrors(fieldErrors)
  const saved = {
    name: name?.trim() ?? null,
    logo: 'logo' in read ? read.logo : null,
    primaryColour: colours?.primary.toLowerCase() ?? null,
    textColour: text?.toLowerCase() ?? null,
    allowedOrigins: [...new Set(origins.flatMap((one) => ('origin' in one ? [one.origin] : [])))],
  }
  await saveBranding.run(tx, { organizationId, ...saved })
  const reply = viewBranding(saved)
  return { reply, audited: { before: audited(before), after: audited(reply) } }
}

/** The log keeps that there is a logo, and not the picture. */
const audited = ({ logo, ...branding }: ReturnType<typeof viewBranding>) => ({
  ...branding,
  logo: logo && `${logo.slice(0, logo.indexOf(','))}, ${logo.length} characters`,
})
