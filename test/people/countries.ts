import type { Choices } from './choices.ts'
import type { State } from './people.ts'

/** How people of a country write names, places and numbers. */
export type Country = {
  readonly code: 'us' | 'de' | 'gb' | 'fr' | 'br'
  /** By which files mean it. */
  readonly names: readonly string[]
  readonly callingCode: string
  /** Whether a zero is dialled before numbers inside the country. */
  readonly hasTrunkZero: boolean
  readonly givenNames: readonly string[]
  readonly familyNames: readonly string[]
  readonly cities: readonly string[]
  readonly states: readonly State[]
  readonly zips: readonly string[]
  /** The groups of digits of a number behind the code of the country. */
  readonly phoneParts: (choices: Choices, digits: (length: number) => string) => string[]
  /** How it is written at home. @param hasCountry whether the row says the country */
  readonly nationalForms: (parts: readonly string[], hasCountry: boolean) => string[]
}

const withZero = (parts: readonly string[], hasCountry: boolean): string[] => [
  // Without groups and without its country, a German number can look like a North American number.
  ...(hasCountry ? [`0${parts.join('')}`] : []),
  `0${parts.join(' ')}`,
  `0${parts[0]}/${parts.slice(1).join('')}`,
  `0${parts.join('-')}`,
]

export const countries: readonly Country[] = [
  {
    code: 'us',
    names: ['US', 'USA', 'United States', 'us'],
    callingCode: '1',
    hasTrunkZero: false,
    givenNames: ['John', 'Mary-Jane', 'José', 'Latoya', "D'Andre", 'Ana María'],
    familyNames: ['Smith', "O'Connor", 'García', 'de la Cruz', 'Smith-Jones', 'Nguyễn'],
    cities: ['New York', 'St. Louis', 'Coeur d’Alene', 'Winston-Salem'],
    states: [
      { name: 'California', code: 'ca' },
      { name: 'New York', code: 'ny' },
      { name: 'North Carolina', code: 'nc' },
    ],
    zips: ['94043', '94043-1351', '10001', '02134'],
    phoneParts: (choices, digits) => [choices.of(['650', '212', '323', '415']), `${2 + choices.below(8)}55`, digits(4)],
    nationalForms: ([area, exchange, line], hasCountry) => [
      `(${area}) ${exchange}-${line}`,
      ...(hasCountry
        ? [`${area}-${exchange}-${line}`, `${area}${exchange}${line}`, `${area}.${exchange}.${line}`]
        : []),
    ],
  },
  {
    code: 'de',
    names: ['DE', 'Germany', 'Deutschland', 'DEU'],
    callingCode: '49',
    hasTrunkZero: true,
    givenNames: ['Jürgen', 'Anna-Lena', 'Zoë', 'Björn', 'Käthe'],
    familyNames: ['Müller', 'von der Heide', 'Weiß', 'Schröder-Köpf', 'Großmann'],
    cities: ['München', 'Frankfurt am Main', 'Köln', 'Berlin'],
    states: [{ name: 'Bayern' }, { name: 'Nordrhein-Westfalen' }, { name: 'Thüringen' }],
    zips: ['10115', '01067', '80331'],
    phoneParts: (choices, digits) => [choices.of(['151', '160', '171']), `${2 + choices.below(8)}${digits(7)}`],
    nationalForms: withZero,
  },
  {
    code: 'gb',
    names: ['GB', 'UK', 'United Kingdom', 'Great Britain'],
    callingCode: '44',
    hasTrunkZero: true,
    givenNames: ['Oliver', 'Siân', 'Amélie', 'Mary Ann'],
    familyNames: ['Jones', "O'Neill", 'MacDonald', 'Fitz-Gerald'],
    cities: ["King's Lynn", 'Stoke-on-Trent', 'London', 'Bury St. Edmunds'],
    states: [{ name: 'England' }, { name: 'Greater London' }],
    zips: ['SW1A 1AA', 'sw1a1aa', 'M1 1AE'],
    phoneParts: (choices, digits) => [choices.of(['7400', '7412', '7555']), digits(6)],
    nationalForms: withZero,
  },
  {
    code: 'fr',
    names: ['FR', 'France', 'FRA'],
    callingCode: '33',
    hasTrunkZero: true,
    givenNames: ['Jean-Pierre', 'Zoé', 'François', 'Anaïs', 'Maëlys'],
    familyNames: ['Lefèvre', "d'Arcy", 'L’Hôpital', 'De Gaulle', 'Œuvray'],
    cities: ['Saint-Étienne', "L'Haÿ-les-Roses", 'Paris', 'Aix-en-Provence'],
    states: [{ name: 'Île-de-France' }, { name: "Provence-Alpes-Côte d'Azur" }],
    zips: ['75008', '06000'],
    phoneParts: (choices, digits) => [
      choices.of(['6', '7']),
      `${4 + choices.below(5)}${digits(1)}`,
      digits(2),
      digits(2),
      digits(2),
    ],
    nationalForms: (parts, hasCountry) => [...withZero(parts, hasCountry), `0${parts.join('.')}`],
  },
  {
    code: 'br',
    names: ['BR', 'Brazil', 'Brasil', 'BRA'],
    callingCode: '55',
    hasTrunkZero: false,
    givenNames: ['João', 'Conceição', 'Ana Júlia', 'Sebastião'],
    familyNames: ['da Silva', 'Gonçalves', 'Magalhães', 'dos Santos'],
    cities: ['São Paulo', 'Rio de Janeiro', 'Brasília'],
    states: [{ name: 'São Paulo' }, { name: 'Rio de Janeiro' }],
    zips: ['01310100', '20040020'],
    phoneParts: (choices, digits) => [choices.of(['11', '21', '31', '41']), `9${digits(4)}`, digits(4)],
    nationalForms: ([area, first, second], hasCountry) => [
      `(${area}) ${first}-${second}`,
      ...(hasCountry ? [`${area} ${first}-${second}`, `${area}${first}${second}`, `0${area} ${first}-${second}`] : []),
    ],
  },
]
