import { ConnectorError } from '@penstock/connector'
import type { ReportRequest } from '../kit/report-facts.ts'

/** The labels that a column can have in a file: Yahoo renamed some, such as orders to campaigns, and adds the currency to others. */
const labels: Readonly<Record<string, RegExp>> = {
  date: /^(?:day|date|interval|time(?:stamp)?)\b/i,
  advertiser_id: /^(?:advertiser|account) id$/i,
  advertiser_name: /^(?:advertiser|account)(?: name)?$/i,
  campaign_id: /^(?:campaign|order) id$/i,
  campaign_name: /^(?:campaign|order)(?: name)?$/i,
  line_id: /^line id$/i,
  line_name: /^line(?: name)?$/i,
  ad_id: /^ad id$/i,
  ad_name: /^ad(?: name)?$/i,
  creative_id: /^creative id$/i,
  creative_name: /^creative(?: name)?$/i,
  country: /^country(?: name)?$/i,
  device_type: /^device type(?: name)?$/i,
  gender: /^gender(?: name)?$/i,
  age: /^age(?: name| range)?$/i,
  impressions: /^impressions$/i,
  clicks: /^clicks$/i,
  conversions: /^(?:total )?conversions?$/i,
  advertiser_spending: /^advertiser spending\b/i,
  view_through_conversions: /^view.?through conversions?$/i,
  click_through_conversions: /^click.?through conversions?$/i,
  conversion_value: /^conversion values?\b/i,
  video_starts: /^(?:video )?(?:start(?:ed)? views?|starts)$/i,
  video_completions_25: /^(?=.*\b25\b)(?=.*(?:complet|view))/i,
  video_completions_50: /^(?=.*\b50\b)(?=.*(?:complet|view))/i,
  video_completions_75: /^(?=.*\b75\b)(?=.*(?:complet|view))/i,
  video_completions: /^(?=.*\b100\b)(?=.*(?:complet|view))/i,
}

/**
 * The names of the columns of a file, by its labels. Throws `malformed_response` if the file lacks a column that the connection reads:
 * an empty column would look like a figure that is not there.
 */
export function columnsBy({ columns }: ReportRequest, header: readonly string[]): readonly string[] {
  const found = header.map((label) => columns.find((name) => labels[name]?.test(label)) ?? label)
  const missing = columns.filter((name) => !found.includes(name) && !optional.has(name))
  if (missing.length === 0) return found
  const message = `The report of Yahoo has no column for ${missing.join(', ')}. Its columns are ${header.join(', ').slice(0, 500)}.`
  throw new ConnectorError('malformed_response', message)
}

/** Not every report contains the name of the advertiser. The ID is known. */
const optional = new Set(['advertiser_id', 'advertiser_name'])
