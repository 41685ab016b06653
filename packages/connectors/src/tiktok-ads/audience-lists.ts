import type { ListFacts } from '../kit/audience-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { codeOf, tiktokApi } from './api.ts'

/** A request for audiences of an advertiser. */
export const list = (advertiser: string, query: PlatformCall['query']): PlatformCall => ({
  path: '/dmp/custom_audience/list/',
  query: { advertiser_id: advertiser, ...query },
})

/** The audiences that can be changed. Audiences that another advertiser shares cannot. */
const listed = ({ json }: Answer): JsonObject[] =>
  listIn(objectIn(objectIn(json).data).list)
    .map(objectIn)
    .filter(({ shared }) => shared !== true)

/** TikTok finds the ID of an audience that is gone not valid. */
function isGone(answer: Answer): boolean {
  const code = codeOf(answer) ?? 0
  return code >= 40_000 && code < 50_000 && !Object.hasOwn(tiktokApi.errors?.codes ?? {}, code)
}

/**
 * Whether identifiers are streamed into an audience; TikTok calls such audiences partner audiences. Others are created from
 * files.
 */
export const isStreamed = ({ audience_type: type }: JsonObject): boolean => /partner/i.test(textIn(type) ?? '')

/** A request for one audience, which its answer has if it is there. */
export const oneAudience = (advertiser: string, id: string): PlatformCall => ({
  ...list(advertiser, { custom_audience_ids: JSON.stringify([id]) }),
  expects: isGone,
})
export const audienceIn = (answer: Answer, id: string): JsonObject | undefined =>
  listed(answer).find((audience) => textIn(audience.audience_id) === id)

/** How TikTok lists audiences. @param fits the audiences that can be changed */
export const audienceLists = (fits: (audience: JsonObject) => boolean): ListFacts => ({
  id: /^\d{1,20}$/,
  nameMax: 128,
  page: ({ account }, page = '1') => list(account, { page, page_size: '100' }),
  found: (answer) =>
    listed(answer)
      .filter(fits)
      .map(({ audience_id: id, name }) => ({ id, name })),
  next: ({ json }, page = '1') => {
    const { list, page_info: info } = objectIn(objectIn(json).data)
    const isLast = listIn(list).length === 0 || Number(page) >= (numberIn(objectIn(info).total_page) ?? 1)
    return isLast ? undefined : String(Number(page) + 1)
  },
  get: ({ account }, id) => oneAudience(account, id),
  isThere: (answer, id) => audienceIn(answer, id) !== undefined,
  measure: {
    read(answer, id) {
      const audience = audienceIn(answer, id) ?? {}
      const status = audience.is_valid === false ? 'not valid' : audience.is_expiring === true ? 'expiring' : 'valid'
      return { size: audience.cover_num, status }
    },
  },
})
