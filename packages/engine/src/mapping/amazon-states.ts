/**
 * Names of states, regions and provinces that Amazon knows by letters, in lower case without spaces: of Germany, France, Italy and
 * Spain, as far as the letters are not the first two of the name.
 */
const letters = new Map(
  `bw badenwuerttemberg by bavaria bb brandenburg hb bremen hh hamburg ni lowersaxony mv mecklenburgvorpommern nw
  northrhinewestphalia rp rhinelandpalatinate sl saarland sn saxony st saxonyanhalt sh schleswigholstein
  aa alsace bt brittany bg burgundy cn centre cg champagneardenne fc franchecomte if iledefrance lu
  languedocroussillon lm limousin le lorraine bn lowernormandy mp midipyrenees np nordpasdecalais pl paysdelaloire
  pt poitoucharentes ra rhonealpes ht uppernormandy ce corsica
  ap ascolipiceno at asti bt barlettaandriatrani bl belluno bn benevento bg bergamo bz southtyrol bs brescia cl
  caltanissetta cb campobasso ci carboniaiglesias ce caserta ct catania cz catanzaro cs cosenza kr crotone cn
  cuneo fm fermo fi florence fg foggia fc forlicesena sp laspezia aq laquila lt latina lc lecco mc macerata mn
  mantua ms massaandcarrara mt matera vs mediocampidano mb monzaandbrianza ot olbiatempio pd padua pr parma pv
  pavia pg perugia pu pesaroandurbino pc piacenza pt pistoia pn pordenone pz potenza po prato rg ragusa rc
  reggiocalabria rn rimini rm rome ss sassari sv savona sr syracuse tr terni tp trapani tn trentino tv treviso ts
  trieste to turin vb verbanocusioossola vc vercelli vr verona vv vibovalentia vt viterbo
  a alicante a alacant ab albacete b barcelona bi vizcaya c lacoruna c acoruna cc caceres cr ciudadreal cs
  castellon cs castello gc laspalmas gi gerona h huelva j jaen l lerida l lleida lo larioja m madrid ml melilla o
  asturias or ourense p palencia pm baleares pm balears s cantabria sg segovia ss guipuzcoa ss gipuzkoa t
  tarragona tf santacruzdetenerife v valencia vi alava vi araba z zaragoza`
    .split(/\s+/)
    .map((word, index, words): [string, string] => [word, words[index - 1] ?? ''])
    .filter((_, index) => index % 2 === 1),
)

/**
 * The letters that Amazon uses for a state without a standard abbreviation: the letters in Amazon's list, or the first two
 * letters of the name (amazon-marketing-cloud-uploader-from-aws, state_normalizer).
 * @param state letters from a to z, without spaces
 */
export const amazonStateOf = (state: string): string => letters.get(state) ?? state.slice(0, 2)

/** Places in North America that have an abbreviation but are not on Amazon's list. */
export const unlistedByAmazon: ReadonlySet<string> = new Set(
  'districtofcolumbia puertorico newfoundland newfoundlandlabrador yukonterritory'.split(' '),
)
