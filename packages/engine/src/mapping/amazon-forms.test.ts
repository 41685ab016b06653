import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Normalisation } from '@penstock/connector'
import { normalisers } from './normalise.ts'

/**
 * Values by country as Amazon's normalisers write them. Most values are from the sample data of
 * aws-solutions/amazon-marketing-cloud-uploader-from-aws. All of that data (1,000 people in each of nine countries) gives the
 * same digests.
 */
const examples: Partial<Record<Normalisation, Record<string, [string, string | undefined][]>>> = {
  'email-no-signs': {
    anywhere: [
      ['Jo+News@Example.com', 'jonews@example.com'],
      ["o'neil_1-a.b@mail.example.com", 'oneil_1-a.b@mail.example.com'],
      ['jörg@example.com', 'jörg@example.com'],
      ['+@example.com', undefined],
    ],
  },
  'name-ascii': {
    anywhere: [
      ['John Doe', 'johndoe'],
      ['123 Main St, Apt #4', '123mainstapt4'],
      ['Jürgen Großmann', 'juergengrossmann'],
      ['Ju\u0308rgen', 'juergen'],
      ['Øystein Ærø', 'oysteinaero'],
      ['José', 'jos'],
      ['李明', undefined],
    ],
  },
  'city-ascii': {
    anywhere: [
      ['San Francisco, CA', 'sanfranciscoca'],
      ['München', 'mnchen'],
      ['!', undefined],
    ],
  },
  'street-address': {
    us: [
      ['744 Messerschmidt Avenue', '744messerschmidtave'],
      ['8 Bluestem Terrace', '8bluestemter'],
      ['4 Cody Junction', '4codyjct'],
      ['17787 Melrose Hill', '17787melrosehl'],
      ['123 N. Main St., Apt #4', '123nmainstaptnumber4'],
      ['Northwest 5th Street, Suite 12-B', 'nw5thstste12b'],
      ['1200 Meadows Key', '1200mdwskey'],
      ['45-47 Elm Lane (rear) c/o Smith!', '45-47elmlnrearsmith'],
      ['8RIDGEVIEWLN', '8ridgeviewln'],
      ['№ 5', '№5'],
      ['#', 'number'],
      [' , . ', undefined],
    ],
    gb: [
      ['8 Ridgeview Lane', '8ridgeviewln'],
      ['7914 CORSCOT STREET', '7914corscotst'],
      ['669 1st road', '6691strd'],
      ['1 Red Lion Sq', '1redlionsquare'],
    ],
    jp: [
      ['99 Sundown Lane', '99sundownln'],
      ['3 Ridge Terrace', '3ridgeterrace'],
    ],
    fr: [
      ['552 Ronald Regan Place', '552ronaldreganpl'],
      ['3 Allee des Roses', '3alléedesroses'],
      ['3 Alle\u0301e des Roses', '3alléedesroses'],
    ],
    es: [
      ['c/ Mayor, 5', 'callemayor5'],
      ['6 Nelson Plaza', '6nelsonplaza'],
    ],
    it: [['Pza Navona 3', 'piazzanavona3']],
    // A country that Amazon does not list.
    nl: [['12 Station Street', '12stationst']],
  },
  'postal-code-national': {
    us: [
      ['75236-9599', '75236'],
      ['6160', undefined],
    ],
    jp: [
      ['787-0150', '7870150'],
      ['787', undefined],
    ],
    fr: [['77304 CEDEX', '77304']],
    ca: [
      ['K1A 0B6', 'K1A0B6'],
      ['k1a0b6', 'K1A0B6'],
      ['K1A', undefined],
    ],
    gb: [
      ['SW1A 1AA', 'SW1A1AA'],
      ['EC1', undefined],
    ],
    in: [['110 001', '110001']],
    nl: [['1012 AB', '1012ab']],
  },
  'state-ascii': {
    anywhere: [
      ['North Carolina', 'nc'],
      ['Québec', 'qc'],
      // Amazon: amazon-marketing-cloud-uploader-from-aws, state_normalizer. Regions that it does not list go by their first two letters.
      ['Baden-Wuerttemberg', 'bw'],
      ['Lower Saxony', 'ni'],
      ['Rhône-Alpes', 'rh'],
      ['Rhone-Alpes', 'ra'],
      ['Barcelona', 'b'],
      ['Bayern', 'ba'],
      ['Île-de-France', 'le'],
      ['北京', undefined],
    ],
    us: [
      ['District of Columbia', 'di'],
      ['New York', 'ny'],
      ['TX', 'tx'],
    ],
    ca: [
      ['Québec', 'qu'],
      ['Quebec', 'qc'],
    ],
    de: [['Lower Saxony', 'ni']],
    fr: [['Île-de-France', 'le']],
  },
}

for (const [form, byCountry] of Object.entries(examples)) {
  test(`Amazon's form ${form}`, () => {
    for (const [country, pairs] of Object.entries(byCountry)) {
      for (const [text, normal] of pairs) {
        for (const code of country === 'anywhere' ? [undefined] : [country, country.toUpperCase()]) {
          assert.equal(normalisers[form as Normalisation](text, code), normal, `${country}: ${text}`)
        }
      }
    }
  })
}
