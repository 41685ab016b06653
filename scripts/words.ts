/**
 * Checks that words which were replaced do not come back: names, comments, messages and documents use the words of
 * docs/glossary.md. `node scripts/words.ts` prints each line with such a word, and what to write instead.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Word = {
  /** Searched in names, in any form: `underWay`, `under_way`, `under-way`, `under way`. */
  readonly word: string
  readonly instead: string
  /** Files with a plain-English or third-party use. */
  readonly except?: RegExp
}

const words: readonly Word[] = [
  { word: 'addEnds', instead: 'addSides' },
  { word: 'end definition', instead: 'side definition' },
  { word: 'ends of a connection', instead: 'source and destination, or sides' },
  { word: 'both ends', instead: 'both sides', except: /^packages\/connectors?\/src\/(files|egress)\// },
  // Signatures of platforms.
  { word: 'receipt', instead: 'delivery state', except: /api\/seal|column-meanings|headers/ },
  // Term for an error in SOAP and in the APIs of Microsoft.
  { word: 'fault', instead: 'error; of a request: field error', except: /microsoft|<\/?Fault|'Fault/ },
  { word: 'mill', instead: 'transfer fixture; Acme' },
  { word: 'house', instead: 'module, package', except: /house number|ClickHouse/ },
  { word: 'books', instead: 'ledger, checkpoints, counts', except: /Harbour Books/ },
  { word: 'keeps the books', instead: 'stores checkpoints and counts' },
  { word: 'ground', instead: 'background, runtime, test environment' },
  { word: 'room', instead: 'capacity, below the limit' },
  { word: 'unfit', instead: 'invalid' },
  { word: 'peer', instead: 'test server', except: /peer\.(example|blob)|peerDependencies|legacy-peer/ },
  { word: 'gate', instead: 'access control, valve' },
  { word: 'let go', instead: 'release' },
  { word: 'sought', instead: 'searched, found' },
  { word: 'farewell', instead: 'disconnect' },
  { word: 'beat', instead: 'heartbeat' },
  { word: 'feel pulse', instead: 'send heartbeats' },
  { word: 'brake', instead: 'replace guard' },
  { word: 'under way', instead: 'active' },
  { word: 'taken up', instead: 'claimed' },
  { word: 'taking up', instead: 'claiming' },
  { word: 'silence', instead: 'heartbeat timeout, no answer' },
  { word: 'on news', instead: 'on message' },
  { word: 'on deaf', instead: 'on disconnect' },
  { word: 'on hearing', instead: 'on reconnect' },
  { word: 'hearing', instead: 'listening' },
  { word: 'kept results', instead: 'result cache' },
  { word: 'remembered status', instead: 'previous status' },
  { word: 'until told', instead: 'until stop signal' },
  { word: 'moment', instead: 'time' },
  { word: 'row account', instead: 'record summary' },
  { word: 'somebody', instead: 'someone' },
  { word: 'anybody', instead: 'anyone' },
  // As a user of the system, an unknown name, and test data.
  { word: 'nobody', instead: 'no one', except: /^test\/|['e]Nobody|nobody['@-]|asNobody/ },
  { word: 'everybody', instead: 'everyone' },
  { word: 'trouble', instead: 'transient error' },
  { word: 'troubled', instead: 'with errors' },
  { word: 'patience', instead: 'retry policy' },
  { word: 'remember', instead: 'store, cache' },
  { word: 'remembered', instead: 'stored, cached' },
  { word: 'remembering', instead: 'storing' },
  { word: 'tell', instead: 'report, say' },
  { word: 'told', instead: 'reported, said' },
  { word: 'whence', instead: 'from which' },
  { word: 'whereby', instead: 'by which' },
  { word: 'lest', instead: 'so that … not' },
  { word: 'by itself', instead: 'automatically, on its own' },
  { word: 'stands in', instead: 'is in, replaces' },
  { word: 'stood in', instead: 'was in' },
  { word: 'do not fit', instead: 'are invalid', except: /columns[-_]do[-_]not[-_]fit|columnsDoNotFit/ },
  { word: 'does not fit', instead: 'is invalid' },
  { word: 'kept result', instead: 'cached result' },
  { word: 'whoever', instead: 'anyone who' },
  { word: 'anew', instead: 'again' },
  { word: 'mend', instead: 'fix' },
  { word: 'mended', instead: 'fixed' },
  { word: 'in the midst', instead: 'in the middle of' },
  { word: 'go on', instead: 'continue' },
  { word: 'goes on', instead: 'continues', except: /what goes on/ },
  { word: 'went on', instead: 'continued' },
  { word: 'for good', instead: 'permanently' },
  { word: 'takes leave', instead: 'disconnects' },
  { word: 'takes its leave', instead: 'disconnects' },
  { word: 'by themselves', instead: 'on their own, automatically' },
  { word: 'stand in the way', instead: 'prevent' },
  { word: 'stands in the way', instead: 'prevents' },
  { word: 'as they stand', instead: 'as they are' },
  { word: 'heed', instead: 'check' },
  { word: 'laid', instead: 'put' },
  { word: 'wherever that may be', instead: 'anywhere' },
  { word: 'puts up with', instead: 'retries' },
  { word: 'of its own accord', instead: 'automatically' },
  {
    word: 'pipe',
    instead: 'connection, transfer',
    // Streams of Node, and the character between the values of a file.
    except: /\.pipe\(|'pipe'|pipe: '\||`pipe`/,
  },
  { word: 'lives in', instead: 'is in' },
]

const root = join(import.meta.dirname, '..')
/** Generated files, licenses, and what lists the old words itself. */
const ignored =
  /\.(png|svg|pem|key|ico|csv|parquet|gz)$|^(package-lock\.json|LICENSE|scripts\/words\.ts|docs\/upgrading\.md|docs\/errors\.md|docs\/openapi\.json)$/

/** Matches the word in a text and in a name of any case. */
function patternOf(word: string): RegExp {
  const [first = '', ...rest] = word.toLowerCase().split(' ')
  const capital = (part: string) => `[${part.charAt(0).toUpperCase()}${part.charAt(0)}]${part.slice(1)}`
  const whole = [`[${first.charAt(0).toUpperCase()}${first.charAt(0)}]${first.slice(1)}`, ...rest.map(capital)]
  // Before it no letter, or the small letter before the capital of a camel-case name; behind it no small letter.
  const start = `(?:(?<![A-Za-z])|(?<=[a-z0-9])(?=[A-Z]))`
  return new RegExp(`${start}${whole.join('[ _-]?')}s?(?![a-z])|\\b${word.toUpperCase().replaceAll(' ', '_')}\\b`)
}

const patterns = words.map((entry) => ({ ...entry, pattern: patternOf(entry.word) }))
const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
let found = 0
for (const file of files) {
  if (file === '' || ignored.test(file)) continue
  const all = `${file}\n${readFileSync(join(root, file), 'utf8')}`
  for (const { pattern, instead, except } of patterns) {
    if (!pattern.test(all)) continue
    for (const [index, text] of all.split('\n').entries()) {
      const match = pattern.exec(text)
      if (!match || except?.test(file) || except?.test(text)) continue
      found += 1
      console.error(`${file}:${index}: “${match[0]}” was replaced: write “${instead}”`)
    }
  }
}
if (found > 0) {
  console.error(`${found} uses of words that docs/glossary.md replaced. See scripts/words.ts.`)
  process.exitCode = 1
}
