import type { ValueKind } from '../values.ts'

/** Where expressions are: mappings and filters have the columns of a row, definitions of HTTP APIs have JSON values. */
export type Language = 'mappings' | 'definitions'

/** An argument of a function. */
export type Parameter = {
  readonly name: string
  readonly kind: ValueKind
  readonly isOptional: boolean
  readonly isRepeated: boolean
}

/** Expressions without columns, with their values. */
type Examples = readonly (readonly [text: string, value: unknown])[]

/** Facts of a function or an operator, for the compiler, the guide and the tests. */
export type Facts = {
  readonly subject: string
  /** The name of the function, or the forms of the operator. */
  readonly name: string
  /** As the guide shows it. */
  readonly shown: string
  readonly parameters: readonly Parameter[]
  /** The kind of its value. */
  readonly gives: ValueKind
  readonly says: string
  /** The same in both languages. */
  readonly examples: Examples
  /** An older meaning that definitions keep. */
  readonly inDefinitions?: { readonly says: string; readonly examples: Examples }
  /** The only language that has it, and the reason. */
  readonly only?: { readonly in: Language; readonly because: string }
}

/**
 * All operators and functions, one per line: the arguments with their kinds, which are their names unless given, the kind of the
 * value, its meaning, and examples. Below it, `-` is a meaning that only definitions have, and `!` the one language that has the
 * function.
 */
const table: readonly string[] = [
  '# Operators',
  'a == b · a != b: condition | Whether two values of one kind are the same. An empty value equals only another empty value | 1 == 1.0 = true; "a" != "b" = true; 1 == null = false',
  '- Values of two kinds are not equal, and neither are `null` and an empty text. Lists and objects are compared as JSON | 1 == "1" = false; null == "" = false; [1, "a"] == [1, "a"] = true',
  'a < b · a <= b · a > b · a >= b: condition | The order of two numbers, or of two texts by their characters, which is correct for times in ISO 8601. False if a value is empty | 1 < 2 = true; "2026-01-02" >= "2026-01-10" = false; null <= 1 = false',
  '- Texts that are numbers are compared as numbers, and values without an order are never less or more | "9" < "10" = true; "a" < 1 = false',
  'a in list: condition | Whether the list contains the value | "DE" in ["DE", "AT"] = true; 3 in [1, 2] = false',
  '- Also whether a text contains a part, an object a key, or the headers a name | "nn" in "Ann" = true; "a" in {"a": 1} = true',
  'a && b · a || b · !a: condition | Conditions. The right side is not evaluated if the left side decides the result. An empty value is false | true && !false = true; false || true = true; !null = true',
  '- Also with other values: `null`, false, 0 and empty values are false | "a" && 1 = true; [] || 0 = false',
  'a + b: any | The sum of two numbers, or two texts joined | 1 + 2 = 3; "a" + "b" = "ab"',
  '- Other values are joined as texts, and lists as lists. A sum keeps all digits, which mappings round to 15 | "a" + 1 = "a1"; null + 1 = "1"; [1] + [2] = [1,2]; 0.1 + 0.2 = 0.30000000000000004',
  'a - b · a * b · a / b · a % b · -a: number | Calculations. Empty if a value is empty | 7 - 4 = 3; 2 * 3 = 6; 1 / 4 = 0.25; 7 % 4 = 3; -(2) = -2; null * 2 = null',
  '- Also with texts that are numbers | "6" / 2 = 3; "a" * 2 = null; 1 / 0 = null',
  'condition ? a : b: any | One of two values | 1 > 2 ? "a" : "b" = "b"',
  '[a, b] · list[0] · list[-1]: any | A list, and its item at an index, counted from the end if it is negative. Empty if there is no such item | ["a", "b"][0] = "a"; ["a", "b"][-1] = "b"; ["a"][7] = null',
  '- Also a key of an object, and a character of a text | {"a": {"b": 1}}.a["b"] = 1; "abc"[0] = "a"',
  '# Texts',
  'lower(text): text | The text in lower case | lower("Ann") = "ann"',
  'upper(text): text | The text in upper case | upper("Ann") = "ANN"',
  'trim(text): text | The text without spaces around it | trim(" a b ") = "a b"',
  'contains(text, part: text): condition | Whether the text contains the part | contains("Ann", "nn") = true',
  'startsWith(text, part: text): condition | Whether the text begins with the part | "Ann".startsWith("a") = false',
  'endsWith(text, part: text): condition | Whether the text ends with the part | "Ann".endsWith("n") = true',
  'replace(text, from: text, to: text): text | The text with every `from` replaced | replace("a.b.c", ".", "-") = "a-b-c"; replace("a", "", "x") = "a"',
  'substring(text, from: number, until?: number): text | The part from one index, beginning with 0, to before another | substring("abcd", 1, 3) = "bc"; substring("abcd", 2) = "cd"',
  '- A negative index counts from the end. In mappings it is 0 | substring("abcd", 0, -1) = "abc"; substring("abcd", -3) = "bcd"',
  'split(text, separator: text): list | The parts of the text, as a list | split("a,b", ",")[1] = "b"; size(split("a,b,c", ",")) = 3',
  '- An empty text has one part, and only the first 1,000 parts are returned | size(split("", ",")) = 1',
  'join(list, separator?: text): text | The items of the list as one text | join(["a", "b", 1], "-") = "a-b-1"; ["a", "b"].join() = "ab"',
  'size(x: any): number | The number of characters of a text, items of a list, or keys of an object | size("é👍") = 2; size(["a", "b"]) = 2',
  'base64(text): text | The UTF-8 text in Base64 | base64("a:b") = "YTpi"',
  'md5(text): text | The MD5 of the text as 32 hexadecimal digits, also of an empty text | md5("a") = "0cc175b9c0f1b6a831c399e269772661"',
  'sha256(text): text | The SHA-256 of the text as 64 hexadecimal digits, also of an empty text | sha256("a") = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"',
  'hmac(text): text | The HMAC-SHA-256 of the text as 64 hexadecimal digits, with the [hash key](#keyed-hashes) of the destination; empty for an empty text',
  '! mappings | only destinations have a hash key',
  '# Values of any kind',
  'has(x: any): condition | Whether the value is not empty | has("") = false; has(0) = true; has(null) = false',
  'coalesce(...x: any): any | The first value that is not empty | coalesce("", null, "a", 1 / 0) = "a"',
  'either(...x: any): any | The first value that is not empty, false, 0 or an empty list; otherwise the last value | either("", 0, false, "a") = "a"; either(false, 0) = 0',
  'string(x: text): text | The value as a text | string(1.5) = "1.5"; string(true) = "true"',
  'bool(x: any): condition | A condition: true, t, yes, y, 1, on, or false, f, no, n, 0, off | bool(" Yes ") = true; bool("off") = false; bool(1) = true',
  '- Any other text and an empty value are false, and so are 0 and empty lists; other values are true | bool("maybe") = false; bool(null) = false; bool(2) = true',
  'number(x: any, form?: text): number | A number. `form` is `"comma"` or `"point"`; it is needed if the text can be read in two ways, as `1,001` can | number("12.5") = 12.5; number("1.001,50", "comma") = 1001.5',
  '- Without a form, only numbers as programs write them; true is 1. In mappings, `1.001,50` is read, too | number("1.001,50") = null; number("0x10") = 16; number(true) = 1',
  'json(x: any, path?: text): any | The value as JSON. With a path, such as `"items.0.price"`: a value inside JSON; empty if the path does not exist | json(["a", 1]) = "[\\"a\\",1]"; json("[{\\"b\\": 1}]", "0.b") = 1; string(json("[[1]]", "0")) = "[1]"',
  'keys(x: any): list | The keys of an object',
  '! definitions | no column is an object',
  'lookup(x: text, table, other?: any): any | The value for the text in a table `{"from": "to"}`, compared without case and surrounding spaces, or `other` | lookup(" de", {"DE": "Germany"}, "other") = "Germany"; lookup("x", {"a": 1}, 2) = 2; lookup("x", {"a": 1}) = null',
  '# Numbers',
  'round(n: number, digits?: number): number | The number rounded to `digits` decimals, 0 unless given; half is rounded away from 0 | round(2.5) = 3; round(1.005, 2) = 1.01; round(-2.5) = -3',
  'floor(n: number, digits?: number): number | The number rounded down | floor(-1.5) = -2; floor(0.29, 2) = 0.29',
  'ceil(n: number, digits?: number): number | The number rounded up | ceil(1.2) = 2',
  'abs(n: number): number | The number without its sign | abs(-3) = 3',
  'min(...x: order): number | The least of the values, or of the items of one list. Empty values are skipped. Texts, such as times, are compared only with texts | min(4, 3, null) = 3; min([2, 1]) = 1',
  'max(...x: order): number | The greatest, likewise | max(4, 3) = 4; max("2026-01-02", "2026-01-10") = "2026-01-10"',
  '# Times',
  'time(time, order?: text, zone?: text): text | A day or a time in ISO 8601. `order` is `"DMY"`, `"MDY"`, `"YMD"` or `""`, `zone` is the time zone of times without one | time("22.11.2026", "DMY") = "2026-11-22"; time("22.11.2026 10:00", "", "Europe/Berlin") = "2026-11-22T09:00:00Z"',
  '- With one argument, the time in UTC; null for a text that is not a time. In mappings, such a text and the time zone of a time stay | time("2026-01-31T12:00:00+02:00") = "2026-01-31T10:00:00Z"; time("soon") = null',
  'addTime(time, duration: text): text | The time after a duration of ISO 8601, in UTC. A month has 30 days, and a year has 365 | addTime("2026-03-31T12:00:00Z", "-P30D") = "2026-03-01T12:00:00Z"',
  'formatTime(time, form: text, zone?: text): text | The time in another form, of `yyyy`, `yy`, `MM`, `dd`, `HH`, `mm`, `ss`, `SSS`, and letters between `\'`; in UTC, or in `zone` | formatTime("2026-01-31T12:00:00Z", "dd.MM.yy HH:mm:ss") = "31.01.26 12:00:00"; formatTime("2026-01-31T12:00:00Z", "HH:mm", "America/New_York") = "07:00"',
  '- Letters without a meaning stay. In mappings they are an error | formatTime("2026-01-31", "yyyy-MM-ddTHH") = "2026-01-31T00"',
  'seconds(time): number | The seconds from 1970 to the time, rounded down | seconds("2026-01-01") = 1767225600',
  'milliseconds(time): number | The milliseconds from 1970 to the time | milliseconds("1970-01-01T00:00:01.5Z") = 1500',
  'now(): text | The end of the time that a transfer reads, also after a crash',
  '! definitions | a repeated batch would contain other values',
  '# Lists',
  'exists(list, item: any, condition): condition | Whether the condition is true for an item | ["a", "b"].exists(x, x == "b") = true',
  'all(list, item: any, condition): condition | Whether the condition is true for all items | ["a", "b"].all(x, x == "b") = false',
  'filter(list, item: any, condition): list | The items for which the condition is true | [3, 1, 2].filter(x, x > 1)[1] = 2',
  'map(list, item: any, value: any): list | A value for each item | join(["a", "b"].map(x, upper(x)), "") = "AB"',
]

const examplesOf = (text: string): Examples =>
  (text === '' ? [] : text.split('; ')).map((one) => {
    const at = one.lastIndexOf(' = ')
    return [one.slice(0, at), JSON.parse(one.slice(at + 3))]
  })

function parametersIn(text: string): Parameter[] {
  return [...text.matchAll(/(\.{3})?(\w+)(\?)?(?:: (\w+))?/g)].map(([, dots, name = '', mark, kind = name]) => ({
    name,
    kind: kind as ValueKind,
    isOptional: mark !== undefined,
    isRepeated: dots !== undefined,
  }))
}

function readTable(): Facts[] {
  const all: Facts[] = []
  let subject = ''
  for (const line of table) {
    const [head = '', says = '', examples = ''] = line.split(' | ')
    const above = all.at(-1)
    if (head.startsWith('# ')) subject = head.slice(2)
    else if (head.startsWith('- ') && above) {
      all[all.length - 1] = { ...above, inDefinitions: { says: head.slice(2), examples: examplesOf(says) } }
    } else if (head.startsWith('! ') && above) {
      all[all.length - 1] = { ...above, only: { in: head.slice(2) as Language, because: says } }
    } else {
      const [, name = '', inside, gives] = /^(.+?)(?:\((.*)\))?: (\w+)$/.exec(head) ?? []
      const parameters = parametersIn(inside ?? '')
      const names = parameters.map((one) => `${one.name}${one.isRepeated ? ', …' : one.isOptional ? '?' : ''}`)
      const shown = inside === undefined ? name.replaceAll(' · ', '` `') : `${name}(${names.join(', ')})`
      all.push({ subject, name, shown, parameters, gives: gives as ValueKind, says, examples: examplesOf(examples) })
    }
  }
  return all
}

/** All operators and functions, by subject. */
export const facts: readonly Facts[] = readTable()
