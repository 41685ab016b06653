import { foldName } from './column-names.ts'

/**
 * Names of columns in the exports of shops, CRMs and mail tools, in their languages. Only proposals use it, and a person sees
 * them. Transfers match only by the names of `column-names.ts`. Terms:
 * meaning     what a column contains, such as `email`
 * role        whose value it is: of the person, or of one of the person's addresses
 */
export type ColumnMeaning = {
  readonly meaning: string
  /** `own` unless the name refers to an address. Data of a shipping address can belong to another person. */
  readonly role: 'own' | 'billing' | 'shipping'
  /** The name has other common meanings: it is only suggested. */
  readonly isWeak: boolean
  /** The name refers to a code; another column has the same content in words. */
  readonly isCode: boolean
}

/** Names by their meaning. After `?` come names that have other common meanings. */
const names: Readonly<Record<string, string>> = {
  email: `email, email address, mail, mail address, emailid, email primary, primary email, e-mail-adresse, mailadresse,
    adresse e-mail, adresse mail, adresse email, courriel, adresse courriel, correo, correo electrónico, dirección de correo,
    dirección de correo electrónico, dirección de email, email cliente, indirizzo e-mail, posta elettronica,
    indirizzo di posta elettronica, endereço de e-mail, endereço de email, e-mailadres, e-post, e-postadress, mejl,
    adres e-mail, poczta elektroniczna`,
  phone: `phone, phone number, phoneno, telephone, telephone number, tel, telno, mobile, mobile phone, mobile number,
    mobile phone number, mobileno, cell, cell phone, cellphone number, msisdn, telefon, telefonnummer, telefonnr,
    rufnummer, handy, handynummer, handynr, mobil, mobilnummer, mobiltelefon, mobiltelefonnummer, mobilfunknummer,
    numéro de téléphone, n° de téléphone, téléphone mobile, téléphone portable, tél, tél portable, mobile téléphone,
    teléfono, teléfono móvil, número de teléfono, móvil, celular, número de celular, teléfono celular, numero di telefono,
    telefono cellulare, cellulare, telefone, telemóvel, número de telefone, telefone celular, telefone móvel, telefoon,
    telefoonnummer, telefoonnr, mobiel, mobiele telefoon, mobiel nummer, telefoon mobiel, telnr, mobilnr, nr telefonu,
    numer telefonu, telefon komórkowy, komórka ? sms, whatsapp, portable, home phone, phone home, contact number,
    telefon privat, private phone, landline, festnetz`,
  'first name': `first name, firstname, fname, given name, forename, vorname, prénom, nombre de pila, primeiro nome,
    voornaam, förnamn, tilltalsnamn, imię, imiona, nome proprio ? first, nombre, nome, nombres`,
  'last name': `last name, lastname, lname, surname, family name, nachname, familienname, zuname, nom de famille,
    apellido, apellidos, cognome, apelido, sobrenome, achternaam, familienaam, efternamn, nazwisko ? last, nom,
    primer apellido`,
  'birth date': `birth date, birthdate, date of birth, dob, birthday, geburtsdatum, geburtstag, geb datum,
    date de naissance, date naissance, anniversaire, fecha de nacimiento, fecha nacimiento, cumpleaños, data di nascita,
    data nascita, data de nascimento, data nascimento, geboortedatum, födelsedatum, födelsedag, data urodzenia
    ? aniversário, compleanno, verjaardag`,
  'birth year': `birth year, year of birth, doby, geburtsjahr, année de naissance, año de nacimiento, anno di nascita,
    ano de nascimento, geboortejaar, födelseår, rok urodzenia`,
  'birth month':
    'birth month, month of birth, dobm, geburtsmonat, mois de naissance, mes de nacimiento, mese di nascita',
  'birth day': 'day of birth, dobd',
  initial: 'first initial, finitial',
  gender: `gender, sex, geschlecht, sexe, género, sexo, sesso, genere, geslacht, kön, płeć ? genre, anrede, salutation,
    civilité, title, titel, prefix, namensprefix`,
  city: `city, town, city town, town city, locality, suburb city, ort, stadt, wohnort, ortschaft, ville, ciudad,
    localidad, población, città, località, cidade, localidade, stad, plaats, woonplaats, plaatsnaam,
    postort, miasto, miejscowość ? commune, comune, municipio, municipality, gemeinde, suburb`,
  state: `state, state province, state region, province, province code, state code, region, county state, state county,
    bundesland, kanton, provincia, provincie, distrito, departamento, département, comunidad autónoma, regione,
    wojewodztwo, województwo, state province region, province state, state or province ? estado, uf, county, län, zone`,
  'postal code': `postal code, postalcode, zip, zip code, zipcode, zip postal code, postal zip code, zip postcode,
    post code, postcode, postcode zip, postal code zip, postleitzahl, plz, code postal, cp, código postal, cap,
    codice postale, codice avviamento postale, cep, postnummer, postnr, kod pocztowy, kod poczt`,
  country: `country, country code, country region, country name, country iso, country iso code, iso country,
    country code iso, country id, land, länderkürzel, ländercode, landeskürzel, landcode, landkod, land code, landnaam, landnamn, pays,
    code pays, país, código país, código de país, código do país, paese, nazione, kraj, kod kraju ? region code, staat,
    nation, stato, nationality, nationalität, market`,
  address: `address, address 1, address line 1, street, street address, address 1 street, street 1, street line 1, straße,
    straße und hausnummer, straße hausnummer, straße hausnr, straße nr, anschrift, adresse, adresse 1, adresse ligne 1,
    rue, dirección, calle, indirizzo, via, endereço, rua, morada, logradouro, adres, straat, gatuadress, adress, gata, ulica`,
  person: `external id, extern id, ext id, customer id, customer number, customer no, customer code, user id, crm id,
    contact id, person id, subscriber id, profile id, member id, kundennummer, kundennr, kunden id, kunden nr, kd nr,
    kundennr kurz, numéro client, n° client, no client, id client, code client, référence client, número de cliente,
    n° cliente, nº cliente, id cliente, código cliente, código de cliente, id de cliente, codice cliente, código do cliente,
    klantnummer, klantnr, klant id, kundnummer, kundnr, kund id, numer klienta, nr klienta, id klienta
    ? record id, account id, account number, membership number, loyalty id, loyalty number, debitorennummer, user`,
  time: `order date, order date time, order datetime, date of order, ordered at, order placed at, order timestamp,
    purchase date, purchased at, date of purchase, purchase time, sale date, sold at, transaction date, transaction time,
    event date, event time, event timestamp, conversion time, conversion date, bestelldatum, bestellzeit,
    bestellzeitpunkt, auftragsdatum, kaufdatum, verkaufsdatum, bestellt am, gekauft am, verkauft am, date de commande, date commande,
    date de la commande, date d'achat, date achat, fecha de pedido, fecha del pedido, fecha pedido, fecha de compra,
    fecha compra, fecha de venta, data ordine, data dell'ordine, data acquisto, data di acquisto, data do pedido,
    data pedido, data da compra, data de compra, besteldatum, aankoopdatum, datum bestelling, orderdatum,
    beställningsdatum, inköpsdatum, köpdatum, data zamówienia, data zakupu
    ? date, datum, fecha, data, timestamp, time, created, created at, creation date, created date, date created,
    date creation, paid at, paid date, paid on date, payment date, payments date, zahlungsdatum, date paid, close date,
    rechnungsdatum, date de création, fecha de creación, data utworzenia, erstellt, erstellt am, order time, zeit`,
  value: `value, order value, order total, order amount, ordertotal amount, total, total amount, total price, total value,
    total sales, grand total, total order, total incl vat, amount, revenue, conversion value, purchase value,
    transaction amount, transaction value, sale amount, bestellwert, auftragswert, bestellsumme, auftragssumme,
    gesamtbetrag, gesamtsumme, gesamtpreis, gesamtwert, betrag, summe, rechnungsbetrag, montant, montant total,
    montant ttc, total ttc, montant de la commande, montant commande, total de la commande, total commande, total payé,
    importe, importe total, total pedido, total del pedido, valor del pedido, monto, monto total, importo, importo totale,
    totale, totale ordine, valore ordine, totale dell'ordine, valor, valor total, valor do pedido, total do pedido,
    valor da compra, bedrag, totaal, totaalbedrag, orderbedrag, totaalprijs, bestelwaarde, orderwaarde, belopp, totalt,
    totalbelopp, summa, ordersumma, ordervärde, kwota, kwota zamówienia, wartość, wartość zamówienia, suma,
    suma zamówienia, kwota łączna, razem
    ? price, preis, prix, precio, prezzo, preço, prijs, pris, cena, umsatz, subtotal, total paid, amount paid, sold for,
    item total, net sales, gross sales, total collected, deal value, net amount, gross amount, order net, order net total`,
  currency: `currency, currency code, order currency, order currency code, base currency code, währung, währungscode,
    währungskürzel, devise, code devise, monnaie, moneda, divisa, código de moneda, valuta, codice valuta, moeda,
    código da moeda, valutacode, valutakod, waluta, kod waluty, currency iso ? presentment currency, payout currency`,
  order: `order id, order number, order no, order nr, order reference, order ref, order code, order name, transaction id,
    transaction number, increment id, bestellnummer, bestellnr, bestell id, bestell nr, auftragsnummer, auftragsnr,
    auftrags nr, numéro de commande, numéro commande, n° commande, n° de commande, no de commande, no commande,
    id commande, référence commande, référence de la commande, número de pedido, número pedido, nº pedido, n° pedido,
    nº de pedido, id pedido, id del pedido, código do pedido, número do pedido, referencia del pedido, numero ordine,
    n° ordine, n. ordine, id ordine, numero d'ordine, riferimento ordine, bestelnummer, bestelnr, bestelling id,
    ordernummer, ordernr, beställningsnummer, numer zamówienia, nr zamówienia, id zamówienia, transaktions id
    ? order, reference, payment id, invoice number, invoice id, rechnungsnummer, sale id,
    charge id, beleg nr, amazon order id`,
  quantity: `quantity, qty, total quantity, item count, items count, number of items, total items, num items,
    quantity of items, menge, stückzahl, artikelanzahl, anzahl artikel, quantité, nombre d'articles, cantidad,
    número de artículos, quantità, numero articoli, quantidade, número de itens, aantal artikelen,
    antal artiklar, ilość, liczba produktów ? anzahl, antal, aantal, stück, units, items`,
  'ip address': `ip, ip address, client ip, client ip address, browser ip, customer ip address, user ip, ip adresse,
    adresse ip, dirección ip, indirizzo ip, endereço ip, ip adres, ip adress, adres ip ? opt-in ip, signup ip`,
  'user agent': 'user agent, useragent, client user agent, browser user agent, http user agent',
  company: `company, company name, organization, organisation, organization name, business name, firma, firmenname,
    unternehmen, société, nom de société, entreprise, raison sociale, empresa, nombre de la empresa, razón social, azienda,
    ragione sociale, nome empresa, razão social, bedrijf, bedrijfsnaam, företag, företagsnamn, nazwa firmy
    ? account name, brand`,
}

/** Names of fields for a meaning that columns do not have: names that destinations use. */
const fieldNames: Readonly<Record<string, string>> = {
  time: 'event time, timestamp, timestamp utc, timestamp micros, timestamp unixtime ms, conversion date time',
  value: 'event value, conversion value',
  currency: 'value currency, conversion currency, conversion currency code',
  quantity: 'num items, number items, units sold',
  address: 'address',
  company: 'account name',
}

/** Words before or after a name that add no meaning: the value belongs to the person. */
const ownWords = `customer, customers, kunde, kunden, client, clients, cliente, clienti, du client, de cliente,
  del cliente, do cliente, klant, kund, kundens, klient, klienta, contact, contacts, kontakt, contacto, contatto, contato,
  user, member, subscriber, buyer, käufer, käufers, acheteur, acheteuse, comprador, acquirente, koper, shopper, person,
  lead, profile, primary, main, default, 1, 1 value, hauptadresse, standard, adresse principale, des kunden, des käufers`
const addressWords = `address, adresse, default address, customer address, addr, home address, mailing, mailing address,
  postal address, home, street address`
const billingWords = `billing, billing address, billing information, bill to, billto, invoice, invoice address, rechnung,
  rechnungs, rechnungsadresse, rechnungsanschrift, facturation, de facturation, adresse de facturation, facturación,
  de facturación, dirección de facturación, fatturazione, di fatturazione, cobrança, de cobrança, factuur, factuuradres,
  faktura, fakturering, fakturerings, do faktury`
const shippingWords = `shipping, shipping address, shipping information, ship, ship to, shipto, delivery,
  delivery address, recipient, recipients, liefer, liefer adresse, lieferanschrift, lieferung, versand, versandadresse,
  empfänger, livraison, de livraison, adresse de livraison, envío, de envío, dirección de envío, spedizione, di spedizione,
  entrega, de entrega, bezorg, bezorgadres, aflever, afleveradres, verzend, verzendadres, leverans, leveransadress,
  dostawy, wysyłki`
const codeWords = /code|iso|kürzel|codice|código|kod$/iu

const placeMeanings = new Set(['city', 'state', 'postal code', 'country', 'address'])

/** Names that mean a part of a name only next to the other part. */
const pairs: Readonly<Record<string, { readonly meaning: string; readonly beside: readonly string[] }>> = {
  nom: { meaning: 'last name', beside: ['prenom'] },
  name: { meaning: 'last name', beside: ['vorname'] },
  naam: { meaning: 'last name', beside: ['voornaam'] },
  nombre: { meaning: 'first name', beside: ['apellido', 'apellidos', 'primerapellido'] },
  nome: { meaning: 'first name', beside: ['cognome', 'sobrenome', 'apelido'] },
}

const letters: Readonly<Record<string, string>> = { ß: 'ss', ł: 'l', ø: 'o', æ: 'ae', œ: 'oe', đ: 'd' }
const fold = (name: string): string => foldName(name).replace(/[ßłøæœđ]/g, (letter) => letters[letter] ?? '')
/** The folded name, and the name as it is written without umlauts. */
const formsOf = (name: string): string[] => [
  ...new Set([name, name.replace(/[äöü]/gi, (letter) => `${letter}e`)].map(fold).filter((folded) => folded !== '')),
]
const listOf = (text: string): string[] => text.split(',').map((name) => name.trim())

type Known = Omit<ColumnMeaning, 'role'>
const known = new Map<string, Known>()
for (const [meaning, text] of Object.entries(names)) {
  const [sure = '', weak = ''] = text.split('?')
  for (const [list, isWeak] of [
    [sure, false],
    [weak, true],
  ] as const) {
    for (const name of listOf(list)) {
      for (const form of formsOf(name)) known.set(form, { meaning, isWeak, isCode: codeWords.test(name) })
    }
  }
}

type Word = { readonly word: string; readonly role: ColumnMeaning['role']; readonly isOfPlace: boolean }
const wordsOf = (text: string, role: ColumnMeaning['role'], isOfPlace = false): Word[] =>
  listOf(text)
    .flatMap(formsOf)
    .map((word) => ({ word, role, isOfPlace }))
/** The longest first, so that `shippingaddress` is not taken for `shipping` and an address. */
const words = [
  ...wordsOf(ownWords, 'own'),
  ...wordsOf(addressWords, 'own', true),
  ...wordsOf(billingWords, 'billing'),
  ...wordsOf(shippingWords, 'shipping'),
].sort((a, b) => b.word.length - a.word.length || (a.word < b.word ? -1 : 1))

const wordsMax = 3
/** Longer names are sentences. */
const lengthMax = 60

/** The meaning of a single name; `undefined` if it is not known. The time does not depend on the name. */
export function meaningOf(name: string): ColumnMeaning | undefined {
  if (name.length > lengthMax) return undefined
  const whole = read(fold(withoutMarks(name)), wordsMax)
  if (whole || !name.includes('/')) return whole
  // In two languages, or for two countries: `Bundesland/Province`.
  const [first, ...others] = name.split('/').map((part) => read(fold(part), wordsMax))
  return others.every((other) => other && other.meaning === first?.meaning && other.role === first.role)
    ? first
    : undefined
}

/**
 * The meaning of each name in its context: `Nom` is the last name next to `Prénom`, and unknown otherwise.
 * @returns one entry for each name, in the same order
 */
export function meaningsOf(columns: readonly string[]): readonly (ColumnMeaning | undefined)[] {
  const folded = columns.map(fold)
  const all = new Set(folded)
  return columns.map((name, index) => {
    const pair = Object.hasOwn(pairs, folded[index] ?? '') ? pairs[folded[index] ?? ''] : undefined
    if (!pair) return meaningOf(name)
    const isSure = pair.beside.some((other) => all.has(other))
    return { meaning: pair.meaning, role: 'own', isWeak: !isSure, isCode: false }
  })
}

/** The meaning of a field, by its own name; `undefined` if the name has no known meaning. */
export const meaningOfField = (field: string): string | undefined => {
  const folded = fold(field)
  const meaning = known.get(folded)
  return (meaning?.isWeak ? undefined : meaning?.meaning) ?? byFieldName.get(folded)
}

const byFieldName = new Map(
  Object.entries(fieldNames).flatMap(([meaning, text]) => listOf(text).map((name) => [fold(name), meaning] as const)),
)

function read(folded: string, left: number): ColumnMeaning | undefined {
  const meaning = known.get(folded)
  if (meaning) return { ...meaning, role: 'own' }
  if (left === 0) return undefined
  for (const { word, role, isOfPlace } of words) {
    if (folded.length <= word.length) continue
    const isBefore = folded.startsWith(word)
    if (!isBefore && !folded.endsWith(word)) continue
    const rest = read(isBefore ? folded.slice(word.length) : folded.slice(0, -word.length), left - 1)
    if (!rest || (isOfPlace && !placeMeanings.has(rest.meaning))) continue
    return { ...rest, role: role === 'own' ? rest.role : role }
  }
  return undefined
}

/** Without additions of tools: the mark of Salesforce's own fields, a currency or a zone after the name. */
const withoutMarks = (name: string): string =>
  name
    .replace(/__c$/i, '')
    .replace(/[\s([_-]+(?:eur|usd|gbp|chf|pln|sek|dkk|nok|brl|utc|gmt)[)\]]?$/i, '')
    .replace(/\((?:optional|required|pflichtfeld|iso|primary)\)$/i, '')
