import { toNormalForm } from '@penstock/wire/rules'
import { normalisePostalCode } from './words.ts'

/**
 * Words of street addresses that Amazon abbreviates before it hashes an address, by country: each entry is the written form,
 * followed by the words it replaces. Facts of Amazon's normalisers (amzn/amazon-ads-advertiser-audience-normalization-sdk-py,
 * aws-solutions/amazon-marketing-cloud-uploader-from-aws).
 */
const words = {
  everywhere: `
    number num número núm numero # no, w west, e east, n north, s south so, ne northeast, nw northwest, se
    southeast, sw southwest`,
  others: `
    ave avenue, blvd bouled, cir circle, cirs circles, ct court, ctr centre center, dr drive, fwy freeway frwy, hwy
    highway, ln lane, park parks, pkwy parkways pky pkway pkwys parkway parkwy, pl place, plz plaza plza, rd road,
    sq square squ sqr, st street str`,
  us: `
    aly alley allee ally, anx annex annx anex, arc arcade, ave av avenu avenue aven avnue avn, bch beach, bg burg,
    bgs burgs, blf bluff bluf, blfs bluffs, blvd boulv bouled boul, bnd bend, br branch brnch, brg brdge bridge, brk
    brook, brks brooks, btm bot bottm bottom, byp bypass bypas byps bypa, byu bayou bayoo, cir crcl crcle circle
    circl circ, cirs circles, clb club, clf cliff, clfs cliffs, cmn common, cmns commons, cor corner, cors corners,
    cp cmp camp, cpe cape, cres crescent crsnt crsent, crk creek, crse course, crst crest, cswy causeway causwa, ct
    court, ctr centr cen cntr centre cnter cent center, ctrs centers, cts courts, curv curve, cv cove, cvs coves,
    cyn cnyn canyn canyon, dl dale, dm dam, dr driv drive drv, drs drives, dv dvd divide div, est estate, ests
    estates, expy expressway expw expr exp express, ext extension extn extnsn, exts extensions, fld field, flds
    fields, fls falls, flt flat, flts flats, frd ford, frds fords, frg forge forg, frgs forges, frk fork, frks
    forks, frst forests forest, fry frry ferry, ft fort frt, fwy freewy frway freeway frwy, gdn grden garden grdn
    gardn, gdns gardens grdns, gln glen, glns glens, grn green, grns greens, grv grov grove, grvs groves, gtwy
    gatway gateway gatewy gtway, hbr hrbor harbor harb harbr, hbrs harbors, hl hill, hls hills, holw hllw holws
    hollow hollows, hts heights ht, hvn haven, hwy highwy highway hiwy hway hiway, inlt inlet, is island islnd, isle
    isles, iss islands islnds, jct juncton jctn jction junctn junction, jcts jctns junctions, knl knoll knol, knls
    knolls, kys keys, lck lock, lcks locks, ldg lodge lodg ldge, lf loaf, lgt light, lgts lights, lk lake, lks
    lakes, ln lane, lndg landing lndng, loop loops, mdw meadow, mdws meadows mdw medows, ml mill, mls mills, mnr
    manor, mnrs manors, msn mission mssn missn, mt mnt mount, mtn mntn mountain mountin mntain mtin, mtns mountains,
    mtwy motorway, nck neck, opas overpass, orch orchard orchrd, oval ovl, park prk parks, path paths, pike pikes,
    pkwy parkways pky pkway pkwys parkway parkwy, pl place, pln plain, plns plains, plz plaza plza, pne pine, pnes
    pines, pr prr prairie, prt port, prts ports, psge passage, pt point, pts points, radl rad radiel radial, rd
    road, rdg ridge rdge, rdgs ridges, rds roads, riv river rvr rivr, rnch ranch rnchs ranches, rpd rapid, rpds
    rapids, rst rest, rte route, shl shoal, shls shoals, shr shoar shore, shrs shores, skwy skyway, smt sumit summit
    sumitt, spg sprng spring spng, spgs spngs sprngs springs, spur spurs, sq sqre square squ sqr, sqs squares sqrs,
    st street str strt, sta station stn statn, stra straven strav strvn stravenue stravn strvnue, strm streme
    stream, sts streets, ter terr terrace, tpke turnpike trnpk turnpk, trak trk trks tracks track, trce traces
    trace, trfy trafficway, trl trails trls trail, trlr trlrs trailer, trwy throughway, tunl tunel tunnel tunnl
    tunls tunnels, un union, uns unions, upas underpass, via viadct viaduct vdct, vis vista vsta vist vst, vl ville,
    vlg vill village villag villiage villg, vlgs villages, vly vlly valley vally, vlys valleys, vw view, vws views,
    walk walks, way wy, wl well, wls wells, xing crossing crssng, xrd crossroad, xrds crossroads, apt apartment
    appt, dept department, hngr hanger, rm room, spc space, ste suite, fl floor, bldg building, bsmt basement, frnt
    front, lbby lobby, lowr lower, ofc office, ph penthouse, uppr upper`,
  gb: `
    ltd limited, alley aly, ave avenue, blvd bouled, centre center ctr, cir circle, close cl, ct court, dr drive, ln
    lane, pl place, rd road, square sq, st street, apt apartment`,
  fr: `
    allée allee, allées allees, chemin che, impasse imp, montée montee, route rte`,
  es: `
    avenida avd, calle c/ c c\\ carre carrer, rambla rbla, passeig pg paseo ps p, plaza plaza pl plza pza, ronda rda,
    lugar lg, urbanización urb`,
  it: `
    piazza pzza pza, piazzale ple, piazzetta ptta, largo lgo, viale vle, corso cso, vicolo vlo`,
}

type Words = ReadonlyMap<string, string>

/** The written form of each word, by the word. */
const wordsOf = (entries: string): Words =>
  new Map(
    entries.split(',').flatMap((entry) => {
      const [written = '', ...replaced] = entry.trim().split(/\s+/)
      return replaced.map((word): [string, string] => [word, written])
    }),
  )

const everywhere = wordsOf(words.everywhere)
const others: Words = new Map([...everywhere, ...wordsOf(words.others)])
const byCountry: ReadonlyMap<string, Words> = new Map([
  ['us', new Map([...everywhere, ...wordsOf(words.us)])],
  ['gb', new Map([...everywhere, ...wordsOf(words.gb)])],
  ...(['fr', 'es', 'it'] as const).map((country): [string, Words] => [
    country,
    new Map([...others, ...wordsOf(words[country])]),
  ]),
])

const separators = /(?:\s?,\s?)+|\bc\/o\b|[!.[\](){}]|\s+/i

/**
 * A street address as Amazon hashes it: lower case, without spaces and punctuation, with its words abbreviated according to the
 * country.
 * @param country two letters of ISO 3166, in either case; for a country that Amazon does not list, only common abbreviations
 * apply
 */
export function normaliseStreetAddress(text: string, country?: string): string | undefined {
  const written = byCountry.get(country?.toLowerCase() ?? '') ?? others
  const parts = toNormalForm(text, 'NFC')
    .trim()
    .toLowerCase()
    .split(separators)
    .filter(Boolean)
    .flatMap(withoutDash)
    .flatMap(withoutPound)
  const address = parts.map((part) => written.get(part) ?? part).join('')
  return /[\p{L}\p{N}]/u.test(address) ? address : undefined
}

/** `12-b` is the number 12 and the word b. `12-14` and `b-12` are one word each. */
function withoutDash(word: string): string[] {
  const at = word.lastIndexOf('-')
  const [before, after] = [word.slice(0, at), word.slice(at + 1)]
  return at > 0 && after !== '' && /^\p{N}+$/u.test(before) && !/^\p{N}+$/u.test(after) ? [before, after] : [word]
}

/** `apt#5` is three words. The second word means "number". */
function withoutPound(word: string): string[] {
  const [found, before = '', after = ''] = /([a-z]*)#([0-9a-z/-]*)/.exec(word) ?? []
  return found === undefined ? [word] : [before, '#', after].filter(Boolean)
}

/** How many characters of a postal code Amazon compares, and which codes it can compare, by country. */
const postalCodes: ReadonlyMap<string, { readonly other: RegExp; readonly length: number; readonly code: RegExp }> =
  new Map([
    ['ca', { other: /[^0-9A-Z]/g, length: 6, code: /^(?:[A-Z]\d){3}$/ }],
    ['gb', { other: /[^0-9A-Z]/g, length: 7, code: /^(?:[A-Z]{1,2}\d{2,3}|[A-Z]{1,2}\d[A-Z]\d)[A-Z]{2}$/ }],
    ['in', { other: /\D/g, length: 6, code: /^\d{6}$/ }],
    ['jp', { other: /\D/g, length: 7, code: /^\d{7}$/ }],
    ...['us', 'de', 'fr', 'it', 'es'].map(
      (country) => [country, { other: /\D/g, length: 5, code: /^\d{5}$/ }] as const,
    ),
  ])

/**
 * A postal code as Amazon hashes it; `undefined` if it is incomplete.
 * @param country two letters of ISO 3166, in either case; the code of a country that Amazon does not list is not changed
 */
export function normaliseNationalPostalCode(text: string, country?: string): string | undefined {
  const rule = postalCodes.get(country?.toLowerCase() ?? '')
  if (!rule) return normalisePostalCode(text)
  const code = text.toUpperCase().replace(rule.other, '').slice(0, rule.length)
  return rule.code.test(code) ? code : undefined
}
