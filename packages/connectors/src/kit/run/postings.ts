import {
  type Batch,
  type ConnectorContext,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type InspectionContext,
  type Json,
  type Rejection,
  type TriedRows,
} from '@penstock/connector'
import type { Answer } from '../../platform-api/call.ts'
import type { PlatformCall, PlatformClient } from '../../platform-api/client.ts'
import { textIn } from '../../platform-api/json.ts'
import { type Read, rejectionOf, type Wrong, wrong } from '../../platform-api/rows/events.ts'
import { amountOf } from '../../platform-api/rows/money.ts'
import { Refusals } from '../../platform-api/rows/refusals.ts'
import type { WhyNot } from '../event-facts.ts'
import type { PostedObject, PostingDestination, PostingLevel } from '../posting-facts.ts'
import { BudgetLimits } from './budget-limits.ts'
import { assertIds, openApi } from './open-api.ts'
import { PostedObjects } from './posted-objects.ts'
import {
  type AccountMoney,
  type BudgetChange,
  budgetsIn,
  changesOf,
  inUnits,
  lacking,
  merged,
} from './posting-changes.ts'
import { type Posting, postingReader } from './read-postings.ts'

/** Opens a writer that creates and changes objects one by one, parents first. */
export async function openPostings(facts: PostingDestination, context: DestinationContext): Promise<DestinationWriter> {
  const { settings, deliveryStates } = context
  const read = postingReader(facts, settings)
  const limits = new BudgetLimits(settings.increaseMax, deliveryStates)
  const poster = await Poster.open(facts, context, limits, false)
  return {
    async deliver(batch) {
      const { rows, rejected } = read(batch)
      const answers: (Json | null)[] = new Array(batch.rows.length).fill(null)
      let bytes = 0
      for (const [row, done] of await poster.postAll(rows, batch.isRepeated === true)) {
        if ('wrong' in done) {
          rejected.push(rejectionOf(row.index, done))
          continue
        }
        bytes += done.read.bytes
        answers[row.index] = done.read.answer
      }
      const deliveryState = limits.deliveryState()
      return { bytes, rejected, answers, ...(deliveryState !== undefined && { deliveryState }) }
    },
  }
}

/** Makes the function that finds the rows that are rejected without asking the platform. */
export async function rejectionsOf(
  facts: PostingDestination,
  { settings }: Pick<DestinationContext, 'settings'>,
): Promise<(batch: Batch) => readonly Rejection[]> {
  const read = postingReader(facts, settings)
  return (batch) => read(batch).rejected
}

/** Tries rows at the platform, which only validates them if it can. Nothing changes there. */
export async function tryPostings(facts: PostingDestination, context: InspectionContext): Promise<TriedRows> {
  const { settings, columns } = context
  const { rows } = postingReader(facts, settings)({ key: '', columns, rows: context.rows, firstRow: 1 })
  const poster = await Poster.open(facts, context, new BudgetLimits(settings.increaseMax, []), true)
  const rejected = (await poster.postAll(rows, false)).flatMap(([{ index }, done]) =>
    'wrong' in done ? [rejectionOf(index, done)] : [],
  )
  return { rejected, untried: [...poster.untried] }
}

/** The money of an account. Throws `invalid_setting` if its currency is unknown. */
export async function moneyOf(
  { account, money, platformApi: { name } }: PostingDestination,
  client: PlatformClient,
  path: string,
): Promise<AccountMoney> {
  const currency = textIn(account.currency(await client.askObject(account.get(path)))) ?? ''
  if (!/^[A-Z]{3}$/.test(currency)) {
    throw new ConnectorError('malformed_response', `${name} did not return the currency of the account.`)
  }
  const digits = money.digits(currency)
  if (digits !== undefined) return { currency, digits }
  const message = `The account is in ${currency}, and the smallest unit of this currency at ${name} is not known. No amounts can be sent.`
  throw new ConnectorError('invalid_setting', message)
}

/** The result of a row. */
type Done = { readonly bytes: number; readonly answer: Json }
type Sent = { readonly answer: Answer } | (Wrong & { readonly isTaken: boolean })

/** A row with its level and its parent. */
type Going = {
  readonly level: PostingLevel
  readonly row: Posting
  readonly parent: string
  readonly money: AccountMoney
  /** Distinguishes its budgets from others. */
  readonly key: string
}

class Poster {
  readonly #facts: PostingDestination
  readonly #context: ConnectorContext
  readonly #client: PlatformClient
  readonly #account: string
  readonly #objects: PostedObjects
  readonly #limits: BudgetLimits
  readonly #isTry: boolean
  readonly #refusals: Refusals
  #money: AccountMoney | undefined
  /** Rules that were not tried. */
  readonly untried = new Set<string>()

  /** Throws `invalid_setting` and `invalid_credentials`. Asks nothing. @param isTry whether rows are only tried */
  static async open(facts: PostingDestination, context: ConnectorContext, limits: BudgetLimits, isTry: boolean) {
    assertIds(facts.settings, context.settings)
    const account = facts.account.of(context.settings)
    return new Poster(facts, context, await openApi(context, facts.platformApi, facts.auth), account, limits, isTry)
  }

  private constructor(
    facts: PostingDestination,
    context: ConnectorContext,
    client: PlatformClient,
    account: string,
    limits: BudgetLimits,
    isTry: boolean,
  ) {
    this.#facts = facts
    this.#context = context
    this.#client = client
    this.#account = account
    this.#objects = new PostedObjects(facts, client, account)
    this.#limits = limits
    this.#isTry = isTry
    this.#refusals = new Refusals(facts.platformApi.name)
  }

  /** Posts rows, parents first. @param isRepeated whether an earlier delivery of these rows can have succeeded */
  async postAll(rows: readonly Posting[], isRepeated: boolean): Promise<(readonly [Posting, Read<Done>])[]> {
    const all: (readonly [Posting, Read<Done>])[] = []
    try {
      for (const [name, level] of Object.entries(this.#facts.levels)) {
        for (const row of rows) {
          if (row.level === name) all.push([row, await this.#post(level, row, isRepeated)])
        }
      }
      return all
    } catch (error) {
      // It is not known whether the last request changed something.
      this.#objects.forget()
      throw error
    }
  }

  async #post(level: PostingLevel, row: Posting, isRepeated: boolean, isAgain = false): Promise<Read<Done>> {
    this.#money ??= await moneyOf(this.#facts, this.#client, this.#account)
    const money = this.#money
    if (row.currency !== undefined && row.currency !== money.currency) {
      return wrong(`The account is in ${money.currency}.`, 'currency')
    }
    const values = inUnits(level, row.values, this.#facts.money, money)
    if ('wrong' in values) return values
    const parent = await this.#objects.parentOf(level, row)
    if ('wrong' in parent) return parent
    if (parent.read === '' && level.parent !== undefined) {
      this.untried.add(`each ${level.one} of a new ${this.#facts.levels[level.parent]?.one}`)
      return unchanged('')
    }
    const object = await this.#objects.find(level, row, parent.read)
    if ('wrong' in object) return object
    const nameKey = `${row.level} ${parent.read} ${object.read?.name ?? row.name}`
    const going = { level, row, parent: parent.read, money, key: object.read?.id ?? nameKey }
    if (object.read) {
      if (isRepeated) this.#noteLost(going, nameKey, budgetsIn(level, values.read, object.read, money))
      return this.#change(going, object.read, values.read)
    }
    const created = await this.#create(going, values.read)
    if (!('wrong' in created) || !created.isTaken || isAgain) return created
    // Another client created it since the objects were listed.
    this.#objects.forget()
    return this.#post(level, row, isRepeated, true)
  }

  async #create(going: Going, own: PostedObject['values']): Promise<Read<Done> & { readonly isTaken?: boolean }> {
    const { level, row, parent, money } = going
    const name = row.name ?? ''
    const values = merged(level.usual(own, this.#context.settings), { ...own, name })
    const budgets = budgetsIn(level, values, undefined, money)
    const stopped = lacking(level, values) ?? this.#overLimit(going, budgets)
    if (stopped) return stopped
    const request = level.create({ account: this.#account, parent, values, isTry: this.#isTry })
    const sent = await this.#send(going, request, budgets)
    if ('wrong' in sent) return sent
    const id = this.#isTry ? '' : this.#madeId(level, sent.answer)
    await this.#objects.keep(level, { id, name, parent, values, about: {} })
    return { read: { bytes: sent.answer.bytesSent, answer: { id, result: 'created' } } }
  }

  async #change(going: Going, object: PostedObject, own: PostedObject['values']): Promise<Read<Done>> {
    const { level, row, parent, money } = going
    const found = changesOf(level, object, own)
    if ('wrong' in found) return found
    const { name = object.name } = row
    const changes = name === object.name ? found.read : { ...found.read, name }
    if (Object.keys(changes).length === 0 || object.id === '') return unchanged(object.id)
    const budgets = budgetsIn(level, changes, object, money)
    const over = this.#overLimit(going, budgets)
    if (over) return over
    const request = level.change({ account: this.#account, parent, values: changes, isTry: this.#isTry, object })
    const sent = await this.#send(going, request, budgets)
    if ('wrong' in sent) return sent
    await this.#objects.keep(level, { ...object, name, values: merged(object.values, changes) })
    return { read: { bytes: sent.answer.bytesSent, answer: { id: object.id, result: 'changed' } } }
  }

  /** Sends a request for one object. If the platform refuses the object, its budgets do not count. */
  async #send({ level, key }: Going, request: PlatformCall, budgets: readonly BudgetChange[]): Promise<Sent> {
    const { platformApi, validates, refusal, isTaken } = this.#facts
    const undo = budgets.map(({ path, from, to }) => this.#limits.note(`${key} ${path}`, from, to))
    if (this.#isTry && !validates) {
      this.untried.add(`the rules of ${platformApi.name}`)
      return { answer: nothing }
    }
    const refusalOf = (answer: Answer) => refusal(answer, level)
    const answer = await this.#refusals.count(
      () => this.#client.ask({ method: 'POST', ...request, expects: (one) => refusalOf(one) !== undefined }),
      (one) => reasonOf(refusalOf(one)),
    )
    const refused = refusalOf(answer)
    if (refused === undefined) return { answer }
    for (const one of undo) one()
    const field = typeof refused === 'object' ? refused.field : undefined
    return { wrong: reasonOf(refused) ?? '', ...(field && { field }), isTaken: isTaken?.(answer) ?? false }
  }

  #overLimit({ key }: Going, budgets: readonly BudgetChange[]): Wrong | undefined {
    for (const { path, column, from, to } of budgets) {
      if (!this.#limits.isOver(`${key} ${path}`, from, to)) continue
      const max = amountOf(this.#limits.max)
      return wrong(`A value lets all budgets rise by more than ${max}, the greatest increase of a transfer.`, column)
    }
    return undefined
  }

  /** Counts the full amount of budgets that an unconfirmed delivery may have set, because the earlier amount is not known. */
  #noteLost({ key }: Going, nameKey: string, budgets: readonly BudgetChange[]): void {
    for (const { path, from, to } of budgets) {
      const isNoted = [key, nameKey].some((one) => this.#limits.has(`${one} ${path}`))
      if (from === to && !isNoted) this.#limits.note(`${key} ${path}`, 0n, to)
    }
  }

  #madeId(level: PostingLevel, answer: Answer): string {
    const id = textIn(level.made(answer))
    if (id !== undefined && level.id.test(id)) return id
    const message = `${this.#facts.platformApi.name} did not return the ID of the new ${level.one}.`
    throw new ConnectorError('malformed_response', message)
  }
}

const nothing: Answer = { status: 200, headers: new Headers(), json: {}, text: '', bytesSent: 0 }
const unchanged = (id: string): Read<Done> => ({ read: { bytes: 0, answer: { id, result: 'unchanged' } } })
const reasonOf = (why: WhyNot | undefined): string | undefined => (typeof why === 'object' ? why.reason : why)
