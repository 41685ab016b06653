import { GppModel } from '@iabgpp/cmpapi'
import type { ConsentOptOut } from '@penstock/wire/rules'
import { Bits } from './bits.ts'

/**
 * Reads the strings of the IAB about a person: TCF v2, GPP and US Privacy. The answer is undefined if a string cannot be read or
 * contains no answer, which is treated as no. Anyone can write such a string, and a few hundred characters can name billions of
 * vendors or sections, which libraries list one by one. So this code only compares ranges.
 */

/** Longer strings are not read. Strings of real people have a few hundred characters. */
const lengthMax = 8 * 1024
const optedOut = 1
const fields: Readonly<Record<ConsentOptOut, string>> = {
  sale: 'SaleOptOut',
  sharing: 'SharingOptOut',
  targetedAdvertising: 'TargetedAdvertisingOptOut',
}

/** Sections of a GPP string, by their numbers. */
const sectionsOfGpp = { tcf: 2, usPrivacy: 6 }
/** The sections of the US and of its states, by the library. The first one has the number 7. */
const usSections =
  'usnat usca usva usco usut usct usfl usmt usor ustx usde usia usne usnh usnj ustn usmn usmd usin usky usri'.split(' ')
const firstUsSection = 7

/** Places of bits in the core of a TCF string. */
const tcfVersion = { value: 2, length: 6 }
const tcfPurposes = { at: 152, count: 24 }
const tcfVendors = { at: 213, idLength: 16, countLength: 12 }

/**
 * Whether a person agreed to purposes of the TCF, and to a vendor.
 * @param text a TCF string, or a GPP string with a section of the TCF
 */
export const agreesByTcf = (
  text: string,
  purposes: readonly number[],
  vendor: number | undefined,
): boolean | undefined =>
  read(text, () => {
    const tcf = text.startsWith('D') ? sectionsIn(text).get(sectionsOfGpp.tcf) : text
    if (tcf === undefined) return undefined
    const core = tcf.split('.', 1)[0] ?? ''
    if (new Bits(core).number(tcfVersion.length) !== tcfVersion.value) return undefined
    const agrees = (purpose: number) => purpose <= tcfPurposes.count && new Bits(core).at(tcfPurposes.at + purpose - 1)
    return purposes.every(agrees) && (vendor === undefined || agreesToVendor(new Bits(core), vendor))
  })

/** Vendors are bits, or ranges of numbers. */
function agreesToVendor(core: Bits, vendor: number): boolean {
  const { at, idLength, countLength } = tcfVendors
  const last = core.skip(at).number(idLength)
  if (!core.flag()) return vendor <= last && core.skip(vendor - 1).flag()
  for (let count = core.number(countLength); count > 0; count--) {
    const isRange = core.flag()
    const from = core.number(idLength)
    const to = isRange ? core.number(idLength) : from
    if (vendor >= from && vendor <= to) return true
  }
  return false
}

/** Whether a GPP string contains no opt-out in a US section; `undefined` if it has no US section. */
export const agreesByGpp = (text: string, optOuts: readonly ConsentOptOut[]): boolean | undefined =>
  read(text, () => {
    const sections = sectionsIn(text)
    const usPrivacy = sections.get(sectionsOfGpp.usPrivacy)
    const ofStates = usSections.flatMap((name, at) => {
      const section = sections.get(firstUsSection + at)
      return section === undefined ? [] : [{ name, section }]
    })
    if (ofStates.length === 0 && usPrivacy === undefined) return undefined
    const isOut = ofStates.some(({ name, section }) => optsOut(name, section, optOuts))
    return !isOut && (usPrivacy === undefined || !optOuts.includes('sale') || agreesByUsPrivacy(usPrivacy) === true)
  })

function optsOut(name: string, section: string, optOuts: readonly ConsentOptOut[]): boolean {
  const model = new GppModel()
  model.decodeSection(name, section)
  // Not every section has every field.
  const valueIn = (field: string): unknown =>
    model.hasField(name, field) ? model.getFieldValue(name, field) : undefined
  return valueIn('Gpc') === true || optOuts.some((optOut) => valueIn(fields[optOut]) === optedOut)
}

/** Whether a person did not opt out of the sale of their data by a US Privacy string, such as 1YNN. */
export const agreesByUsPrivacy = (text: string): boolean | undefined =>
  /^1[YN-]{3}$/i.test(text) ? text.charAt(2).toUpperCase() !== 'Y' : undefined

/** The sections of a GPP string by their numbers, which its header lists. */
function sectionsIn(text: string): ReadonlyMap<number, string> {
  const [header = '', ...sections] = text.split('~')
  const bits = new Bits(header).skip(2 * 6)
  const numbers: number[] = []
  let last = 0
  for (let count = bits.number(12); count > 0; count--) {
    const isRange = bits.flag()
    const from = last + bits.fibonacci()
    last = isRange ? from + bits.fibonacci() : from
    for (let number = from; number <= last && numbers.length < sections.length; number++) numbers.push(number)
  }
  return new Map(sections.map((section, at) => [numbers[at] ?? 0, section]))
}

/** Undefined for a string that is too long or broken. */
function read(text: string, decode: () => boolean | undefined): boolean | undefined {
  if (text.length > lengthMax) return undefined
  try {
    return decode()
  } catch {
    return undefined
  }
}
