import type { FieldError } from '@penstock/wire'
import { toNormalForm } from '@penstock/wire/rules'

/** Countries as ISO 3166 names them by two letters, from codes of two or three letters and from names. */

/** Every country's two and three letters, in one word. Kosovo has a code that is common but not in the standard. */
const codes = `adand aeare afafg agatg aiaia alalb amarm aoago aqata ararg asasm ataut auaus awabw axala azaze babih
bbbrb bdbgd bebel bfbfa bgbgr bhbhr bibdi bjben blblm bmbmu bnbrn bobol bqbes brbra bsbhs btbtn bvbvt bwbwa byblr bzblz
cacan cccck cdcod cfcaf cgcog chche ciciv ckcok clchl cmcmr cnchn cocol crcri cucub cvcpv cwcuw cxcxr cycyp czcze dedeu
djdji dkdnk dmdma dodom dzdza ececu eeest egegy ehesh ereri esesp eteth fifin fjfji fkflk fmfsm fofro frfra gagab gbgbr
gdgrd gegeo gfguf ggggy ghgha gigib glgrl gmgmb gngin gpglp gqgnq grgrc gssgs gtgtm gugum gwgnb gyguy hkhkg hmhmd hnhnd
hrhrv hthti huhun ididn ieirl ilisr imimn inind ioiot iqirq irirn isisl itita jejey jmjam jojor jpjpn keken kgkgz khkhm
kikir kmcom knkna kpprk krkor kwkwt kycym kzkaz lalao lblbn lclca lilie lklka lrlbr lslso ltltu lulux lvlva lylby mamar
mcmco mdmda memne mfmaf mgmdg mhmhl mkmkd mlmli mmmmr mnmng momac mpmnp mqmtq mrmrt msmsr mtmlt mumus mvmdv mwmwi mxmex
mymys mzmoz nanam ncncl nener nfnfk ngnga ninic nlnld nonor npnpl nrnru nuniu nznzl omomn papan peper pfpyf pgpng phphl
pkpak plpol pmspm pnpcn prpri pspse ptprt pwplw pypry qaqat rereu rorou rssrb rurus rwrwa sasau sbslb scsyc sdsdn seswe
sgsgp shshn sisvn sjsjm sksvk slsle smsmr snsen sosom srsur ssssd ststp svslv sxsxm sysyr szswz tctca tdtcd tfatf tgtgo
ththa tjtjk tktkl tltls tmtkm tntun toton trtur tttto tvtuv twtwn tztza uaukr uguga umumi ususa uyury uzuzb vavat vcvct
veven vgvgb vivir vnvnm vuvut wfwlf wswsm yeyem ytmyt zazaf zmzmb zwzwe xkxkx`.split(/\s+/)

/** Names that people use and that the standard's list of names does not have. */
const alsoCalled = new Map(
  Object.entries({
    uk: 'gb',
    greatbritain: 'gb',
    england: 'gb',
    scotland: 'gb',
    wales: 'gb',
    northernireland: 'gb',
    america: 'us',
    unitedstatesofamerica: 'us',
    holland: 'nl',
    czechrepublic: 'cz',
    ivorycoast: 'ci',
    burma: 'mm',
    swaziland: 'sz',
    macedonia: 'mk',
    capeverde: 'cv',
    easttimor: 'tl',
    uae: 'ae',
    drc: 'cd',
    republicofkorea: 'kr',
    korea: 'kr',
    russianfederation: 'ru',
    republicofireland: 'ie',
    vietnam: 'vn',
    hongkong: 'hk',
    macau: 'mo',
    turkey: 'tr',
    palestine: 'ps',
    vatican: 'va',
    brasil: 'br',
  }),
)

/**
 * The names in ISO 3166 that nobody uses in speech. They occur with and without their comma or brackets, and in either order of
 * words (`Korea, Republic of`, `Korea Republic of`, `Republic of Korea`).
 */
const officialNames = `bo plurinational state bolivia
bq bonaire sint eustatius saba
cc cocos keeling islands
cd democratic republic congo
cg republic congo
dm commonwealth dominica
fk falkland islands malvinas
fm federated states micronesia
gb united kingdom great britain northern ireland
ir islamic republic iran
kp democratic peoples republic korea
kr republic korea
la lao peoples democratic republic
md republic moldova
mf saint martin french part
mk former yugoslav republic macedonia
mo macao
nl kingdom netherlands
ps state palestine
sh saint helena ascension tristan da cunha
sx sint maarten dutch part
sy syrian arab republic
tw taiwan province china
tz united republic tanzania
um united states minor outlying islands
va holy see vatican city state
ve bolivarian republic venezuela
vg virgin islands british
vi virgin islands us`

const byCode = new Map(
  codes.flatMap((pair) => [pair.slice(0, 2), pair.slice(2)].map((code) => [code, pair.slice(0, 2)])),
)
let byName: ReadonlyMap<string, string> | undefined

/** Two letters in lower case; `undefined` if no country has this code or name. */
export function normaliseCountry(text: string): string | undefined {
  const code = byCode.get(text.length <= 3 ? text.toLowerCase() : '')
  if (code !== undefined) return code
  const name = fold(text)
  const known = byCode.get(name.length <= 3 ? name : '') ?? alsoCalled.get(name)
  if (known !== undefined) return known
  byName ??= nameCountries()
  return byName.get(name) ?? byWords.get(wordsOf(text))
}

/**
 * Errors of a default country; an empty list if it is a country, or empty.
 * @param path the path of the setting in the request
 */
export function defaultCountryErrors(setting: unknown, path: string): FieldError[] {
  if (setting === undefined || setting === '' || normaliseCountry(String(setting)) !== undefined) return []
  return [{ field: path, message: 'is not a country: write its two-letter code, such as DE' }]
}

/** Without case, accents, spaces, punctuation, articles and the word for `and`. */
const fold = (name: string): string =>
  toNormalForm(name, 'NFKD')
    .toLowerCase()
    .replace(/\b(?:the|and)\b|&/g, '')
    .replace(/[\p{M}\p{P}\p{S}\p{Z}\s]+/gu, '')

/** The words of a name in alphabetical order, without case, accents, signs, articles, `and` and `of`. */
const wordsOf = (name: string): string =>
  toNormalForm(name, 'NFKD')
    .toLowerCase()
    .replace(/[\s\p{Z}\p{Ps}\p{Pe}\p{Pd},/&]+/gu, ' ')
    .replace(/[\p{M}\p{P}\p{S}]+/gu, '')
    .split(' ')
    .filter((word) => word !== '' && !['the', 'and', 'of'].includes(word))
    .sort()
    .join(' ')

const byWords = new Map(officialNames.split('\n').map((line) => [wordsOf(line.slice(3)), line.slice(0, 2)]))

/** The names of countries in English and in the languages that are spoken in them, from the data that is part of Node. */
function nameCountries(): Map<string, string> {
  const names = new Map<string, string>()
  const inLanguage = new Map<string, Intl.DisplayNames>()
  const learn = (language: string, pair: string) => {
    let display = inLanguage.get(language)
    if (!display) {
      display = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' })
      inLanguage.set(language, display)
    }
    const name = display.of(pair.slice(0, 2).toUpperCase())
    // English comes first and is not written over, should a name mean another country in another language.
    if (name && !names.has(fold(name))) names.set(fold(name), pair.slice(0, 2))
  }
  for (const pair of codes) learn('en', pair)
  for (const language of ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl']) for (const pair of codes) learn(language, pair)
  for (const pair of codes) learn(new Intl.Locale(`und-${pair.slice(0, 2)}`).maximize().language, pair)
  return names
}
