/** Names with which the tests measure proposals. */

/**
 * Names of columns in exports, by their origin, each with the matching field. A name without a field matches no field, or no
 * field with certainty. `~` is followed by the field that is suggested for the name.
 */
export const exports: Readonly<Record<string, string>> = {
  'Shopify customers': `Customer ID=external_id; First Name=first_name; Last Name=last_name; Email=email;
    Accepts Email Marketing; Default Address Company; Default Address Address1; Default Address Address2;
    Default Address City=city; Default Address Province Code=state; Default Address Country Code=country;
    Default Address Zip=zip; Default Address Phone~phone; Phone=phone; Accepts SMS Marketing; Total Spent; Total Orders;
    Note; Tax Exempt; Tags`,
  'Shopify orders': `Name; Email=email; Financial Status; Paid at~event_time; Fulfillment Status; Fulfilled at;
    Accepts Marketing; Currency=currency; Subtotal~value; Shipping; Taxes; Total=value; Discount Code; Discount Amount;
    Shipping Method; Created at~event_time; Lineitem quantity; Lineitem name; Lineitem price; Lineitem sku; Billing Name;
    Billing Street; Billing City~city; Billing Zip~zip; Billing Province~state; Billing Country~country;
    Billing Phone~phone; Shipping Name; Shipping City~city; Shipping Zip~zip; Shipping Province~state;
    Shipping Country~country; Shipping Phone~phone; Notes; Cancelled at; Payment Method; Refunded Amount; Vendor; Id;
    Risk Level; Source; Phone=phone; Billing Province Name; Payment References`,
  'WooCommerce orders': `order_number=order_id; order_date=event_time; status; shipping_total; tax_total; discount_total;
    order_total=value; order_currency=currency; payment_method; customer_id=external_id; billing_first_name~first_name;
    billing_last_name~last_name; billing_company; billing_email=email; billing_phone=phone; billing_address_1;
    billing_postcode~zip; billing_city~city; billing_state~state; billing_country~country; shipping_first_name~first_name;
    shipping_last_name~last_name; shipping_postcode~zip; shipping_city~city; shipping_state~state;
    shipping_country~country; customer_note; download_permissions; customer_ip_address=ip_address`,
  'Magento customers': `email=email; _website; _store; confirmation; created_at~event_time; dob=date_of_birth;
    firstname=first_name; gender=gender; group_id; lastname=last_name; middlename; prefix~gender; store_id; suffix;
    taxvat; website_id; _address_city=city; _address_country_id=country;
    _address_postcode=zip; _address_region=state; _address_telephone`,
  HubSpot: `Record ID - Contact; First Name=first_name; Last Name=last_name; Email=email; Phone Number~phone;
    Mobile Phone Number~phone; Contact owner; Lead Status; Marketing contact status; Create Date; Associated Company;
    Email Domain; Last Activity Date; City=city; State/Region=state; Postal Code=zip; Country/Region=country;
    Date of birth=date_of_birth; Gender=gender; Job Title; Number of Associated Deals; Unsubscribed from all email`,
  Salesforce: `Contact ID=external_id; Salutation~gender; First Name=first_name; Last Name=last_name; Title~gender;
    Mailing Street; Mailing City=city; Mailing State/Province=state; Mailing Zip/Postal Code=zip; Mailing Country=country;
    Phone=phone; Mobile~phone; Home Phone~phone; Other Phone; Asst. Phone; Fax; Email=email; Birthdate=date_of_birth;
    Account Name; Email Opt Out; Do Not Call; Other City; Other Country; Lead Source; Reports To; Contact Owner`,
  Mailchimp: `Email Address=email; First Name=first_name; Last Name=last_name; Address; Phone Number=phone;
    Birthday=date_of_birth; MEMBER_RATING; OPTIN_TIME; OPTIN_IP; CONFIRM_TIME; CONFIRM_IP; LATITUDE; LONGITUDE; GMTOFF;
    TIMEZONE; CC; REGION=state; LAST_CHANGED; LEID; EUID; NOTES; TAGS`,
  Klaviyo: `Email=email; Klaviyo ID; First Name=first_name; Last Name=last_name; Organization; Title~gender;
    Phone Number=phone; Address; Address 2; City=city; State / Region=state; Country=country; Zip Code=zip;
    Latitude; Timezone; Source; IP Address=ip_address; Email Marketing Consent; Email Marketing Consent Timestamp;
    SMS Marketing Consent; Total Customer Lifetime Value; Historic Number Of Orders; Initial Source; Last Open`,
  'Stripe payments': `id; Description; Created date (UTC)~event_time; Amount=value; Amount Refunded; Currency=currency;
    Converted Amount; Converted Currency; Fee; Taxes On Fee; Mode; Status; Statement Descriptor; Customer ID=external_id;
    Customer Description; Customer Email=email; Captured; Card ID; Card Last4; Card Address City; Card Address State;
    Card Address Country; Card Address Zip; Card Issue Country; Disputed Amount; Invoice ID~order_id; Transfer`,
  'Square customers': `Reference ID; First Name=first_name; Last Name=last_name; Email Address=email; Phone Number=phone;
    Nickname; Company Name; Street Address 1; Street Address 2; City=city; State=state; Postal Code=zip;
    Birthday=date_of_birth; Memo; Square Customer ID; Creation Source; First Visit; Last Visit; Transaction Count;
    Lifetime Spend; Email Subscription Status; Instant Profile`,
  'Amazon orders': `order-id=order_id; order-item-id; purchase-date=event_time; payments-date~event_time;
    buyer-email=email; buyer-name; buyer-phone-number=phone; sku; product-name; quantity-purchased; currency=currency;
    item-price; item-tax; shipping-price; ship-service-level; recipient-name; ship-address-1; ship-city~city;
    ship-state~state; ship-postal-code~zip; ship-country~country; ship-phone-number~phone; delivery-start-date;
    purchase-order-number; price-designation; is-business-order`,
  'eBay orders': `Sales Record Number; Order Number=order_id; Buyer Username; Buyer Name; Buyer Email=email; Buyer Note;
    Buyer Address 1; Buyer City=city; Buyer State=state; Buyer Zip=zip; Buyer Country=country; Ship To Name;
    Ship To Phone~phone; Ship To City~city; Ship To State~state; Ship To Zip~zip; Ship To Country~country; Item Number;
    Item Title; Custom Label; Quantity=num_items; Sold For~value; Shipping And Handling; eBay Collected Tax;
    Total Price=value; Payment Method; Sale Date=event_time; Paid On Date~event_time; Ship By Date; Feedback Left`,
  'Etsy sold orders': `Sale Date=event_time; Order ID=order_id; Buyer User ID=external_id; Full Name; First Name=first_name;
    Last Name=last_name; Number of Items=num_items; Payment Method; Date Shipped; Street 1; Street 2; Ship City~city;
    Ship State~state; Ship Zipcode~zip; Ship Country~country; Currency=currency; Order Value~value; Coupon Code;
    Discount Amount; Shipping Discount; Sales Tax; Order Total~value; Card Processing Fees; Order Net~value;
    Adjusted Order Total; Buyer; Order Type; SKU`,
  Zoho: `Contact Id=external_id; Contact Owner; Lead Source; First Name=first_name; Last Name=last_name; Account Name;
    Email=email; Secondary Email; Department; Phone=phone; Home Phone~phone; Other Phone; Mobile~phone; Assistant;
    Asst Phone; Date of Birth=date_of_birth; Mailing City=city; Mailing State=state; Mailing Zip=zip;
    Mailing Country=country; Email Opt Out; Skype ID; Created Time`,
  Pipedrive: `Person - ID=external_id; Person - Name; Person - First name=first_name; Person - Last name=last_name;
    Person - Email - Work; Person - Email - Home; Person - Phone - Work; Person - Phone - Mobile;
    Person - Organization; Person - Marketing status; Person - Open deals; Person - Owner`,
  ActiveCampaign: `Contact ID=external_id; Email=email; First Name=first_name; Last Name=last_name; Phone=phone;
    Account Name; Date Created~event_time; Tags; Lists; IP=ip_address; Score`,
  Brevo: `CONTACT ID=external_id; EMAIL=email; NOM=last_name; PRENOM=first_name; SMS~phone; WHATSAPP~phone; OPT_IN;
    DOUBLE_OPT-IN; ADDED_TIME; MODIFIED_TIME; BLACKLISTED`,
  'Shopware customers': `customerNumber=external_id; salutation~gender; title~gender; firstName=first_name;
    lastName=last_name; email=email; birthday=date_of_birth; company; group; active; guest; defaultPaymentMethod;
    billingAddress.street; billingAddress.zipcode~zip; billingAddress.city~city; billingAddress.country~country;
    billingAddress.phoneNumber=phone; shippingAddress.zipcode~zip; shippingAddress.city~city;
    shippingAddress.country~country; campaignCode; lastLogin`,
  'PrestaShop customers (fr)': `ID; Titre de civilité; Prénom=first_name; Nom=last_name; Adresse e-mail=email;
    Ventes; Activé; Bulletin d'informations; Offres partenaires; Date d'inscription; Dernière visite;
    Date de naissance=date_of_birth; Société; Téléphone=phone; Code postal=zip; Ville=city; Pays=country`,
  'German shop': `Kundennr.=external_id; Anrede~gender; Vorname=first_name; Nachname=last_name; E-Mail Address=email;
    E-Mail Address (2); Rechnungs-E-Mail~email; Handynummer=phone; Telefon privat~phone; Telefon (gesch.);
    Straße + Hausnr.; Adresszusatz; PLZ=zip; Ort=city; Bundesland/Province=state; Country/Region=country; Liefer-PLZ~zip;
    Liefer-Ort~city; Lieferland~country; Sprache; Währung=currency; Geburtsdatum=date_of_birth; Geschlecht=gender;
    Erste Bestellung; Letzte Bestellung; Bestelldatum=event_time; Bestellnr.=order_id; Anzahl Bestellungen;
    Ø Warenkorb (EUR); order total €=value; Retourenquote %; Newsletter?; Opt-in Datum; Double-Opt-In; Werbesperre;
    Rechnungsnr.; Zahlungsdatum~event_time; Filiale Nr.; Firma; Gutscheincode; Rabatt %; Versandkosten; Lieferdatum`,
  'French orders': `N° de commande=order_id; Date de commande=event_time; Montant total=value; Devise=currency;
    Nom de famille=last_name; Prénom=first_name; Courriel=email; Numéro de téléphone=phone; Ville de facturation~city;
    Code postal de facturation=zip; Ville de livraison~city; Quantité=num_items; Montant remise; Adresse IP=ip_address;
    Sexe=gender; N° client=external_id; Pays (livraison)~country`,
  'Spanish shop': `ID de cliente=external_id; Nombre=first_name; Apellidos=last_name; Correo electrónico=email;
    Teléfono móvil=phone; Fecha de nacimiento=date_of_birth; Ciudad=city; Provincia=state; Código postal=zip; País=country;
    Número de pedido=order_id; Fecha del pedido=event_time; Importe total=value; Moneda=currency; Cantidad=num_items;
    Estado del pedido; Suscrito al boletín; Sexo=gender`,
  'Italian shop': `Codice cliente=external_id; Nome=first_name; Cognome=last_name; Indirizzo e-mail=email; Cellulare=phone;
    Data di nascita=date_of_birth; Città=city; Provincia=state; CAP=zip; Paese=country; Numero ordine=order_id;
    Data ordine=event_time; Totale ordine=value; Valuta=currency; Codice fiscale; Consenso marketing; Sesso=gender`,
  'Portuguese shop': `Código do cliente=external_id; Nome=first_name; Sobrenome=last_name; E-mail=email; Telemóvel=phone;
    Data de nascimento=date_of_birth; Cidade=city; UF~state; CEP=zip; País=country; Número do pedido=order_id;
    Data do pedido=event_time; Valor total=value; Moeda=currency; Gênero=gender; CPF; Aceita e-mail marketing`,
  'Dutch shop': `Klantnummer=external_id; Voornaam=first_name; Tussenvoegsel; Achternaam=last_name; E-mailadres=email;
    Mobiel=phone; Geboortedatum=date_of_birth; Geslacht=gender; Plaats=city; Provincie=state; Postcode=zip; Land=country;
    Bestelnummer=order_id; Besteldatum=event_time; Totaalbedrag=value; Valuta=currency; Aantal~num_items; Huisnummer`,
  'Swedish shop': `Kundnummer=external_id; Förnamn=first_name; Efternamn=last_name; E-postadress=email;
    Mobilnummer=phone; Personnummer; Födelsedatum=date_of_birth; Kön=gender; Postnummer=zip; Postort=city; Land=country;
    Ordernummer=order_id; Orderdatum=event_time; Totalbelopp=value; Valuta=currency; Rabattkod; Antal ordrar`,
  'eBay (de)': `Verkaufsprotokollnummer; Bestellnummer=order_id; Gesamtbetrag=value; Verkauft am=event_time;
    Zahlungsdatum~event_time; Nutzername des Käufers; Name des Käufers; E-Mail des Käufers=email; Postleitzahl des Käufers=zip;
    Ort des Käufers=city; Land des Käufers=country; Angebotstitel; Anzahl~num_items`,
  'Salon (pl)': `imię=first_name; nazwisko=last_name; email=email; numer PESEL; numer karty; Saldo klienta;
    telefon komórkowy=phone; telefon stacjonarny; płeć=gender; adres; kod pocztowy=zip; miasto=city;
    data urodzenia=date_of_birth; data imienin (dzień i miesiąc); opis; przypomnienie SMS; przypomnienie email;
    wysyłka masowa SMS; wysyłka masowa email`,
  'Accounting (nl)': `Relatiecode; Naam; Contactpersoon; Adres; Postcode=zip; Plaats=city; LandNaam=country; Telefoon~phone;
    MobieleTelefoon~phone; Fax; Email=email; Krediettermijn`,
  'Bulk editor': `Customer first name=first_name; Customer last name=last_name; Customer email address=email;
    Customer phone number=phone; Customer note; Customer tags; Customer tax exempt; Customer address id;
    Customer address first name; Customer address city=city; Customer address province~state;
    Customer address province code=state; Customer address postal code=zip; Customer address country~country;
    Customer address country code=country; Customer email marketing consent marketing state`,
  'Google Contacts': `Name; Given Name=first_name; Family Name=last_name; Birthday=date_of_birth; Notes;
    E-mail 1 - Label; E-mail 1 - Value=email; E-mail 2 - Value; Phone 1 - Label; Phone 1 - Value=phone;
    Address 1 - City=city; Address 1 - Region=state; Address 1 - Postal Code=zip; Address 1 - Country=country;
    Organization Name; Custom Field 1 - Value`,
  'TikTok Shop': `Order ID=order_id; Order Status; SKU ID; Seller SKU; Quantity=num_items; SKU Unit Original Price;
    SKU Subtotal Before Discount; Shipping Fee After Discount; Order Amount=value; Order Refund Amount; Created Time;
    Paid Time; Shipped Time; Buyer Username; Recipient; Phone #=phone; Country=country; Province=state; District; Zipcode=zip;
    Payment Method; Weight(kg)`,
  Marketplace: `SubOrder; CreatedOn; Status; BuyerName; BuyerEmail=email; BuyerPhone=phone; Recipient; AddressLine1; City=city;
    State=state; PostalCode=zip; Country=country; ShippingMethod; ShippingCost; TrackingNumber`,
  'Orders (fr)': `Date Création~event_time; Référence~order_id; Client; Téléphone=phone; Ville=city; Commune~city; Adresse; Produit;
    Quantité=num_items; Montant=value; Statut; Date Appel; Type Livraison; Email Client=email`,
  'Booking (pt)': `Código; Nome; CPF; Data de Nascimento=date_of_birth; telefone~phone; celular~phone; email=email; bairro; rua;
    cidade=city; cep=zip; numero; imagem`,
  'Directory (es)': `DNI; Nombre=first_name; Apellidos=last_name; Dirección; Correo Electrónico=email; Teléfono=phone;
    Nº Seg. Social; Tipo de Pago; Municipio~city`,
  'Polish shop': `ID klienta=external_id; Imię=first_name; Nazwisko=last_name; Adres e-mail=email;
    Telefon komórkowy~phone; Telefon stacjonarny; Numer telefonu~phone; Data urodzenia=date_of_birth; Płeć=gender;
    Miasto=city; Województwo=state; Kod pocztowy=zip; Kraj=country; Numer zamówienia=order_id;
    Data zamówienia=event_time; Kwota zamówienia=value; Waluta=currency; Ilość=num_items; Zgoda marketingowa`,
}

/** More exports, which were not looked at when names were collected: the vocabulary is not to be fitted to them. */
export const unseenExports: Readonly<Record<string, string>> = {
  BigCommerce: `Customer ID=external_id; First Name=first_name; Last Name=last_name; Company; Email=email;
    Phone=phone; Notes; Store Credit; Customer Group; Date Joined; Addresses; Receive Review/Abandoned Cart
    Emails?`,
  Squarespace: `Order ID=order_id; Email=email; Financial Status; Paid at; Currency=currency; Subtotal; Shipping;
    Taxes; Amount Refunded; Total=value; Discount Code; Created at; Lineitem quantity; Billing Name; Billing
    Address1; Billing City; Billing Zip; Billing Province; Billing Country; Billing Phone; Shipping City; Shipping
    Zip; Shipping Province; Shipping Country; Shipping Phone; Payment Reference`,
  Wix: `First Name=first_name; Last Name=last_name; Email 1=email; Phone 1=phone; Address 1 - Street; Address 1 -
    City=city; Address 1 - State/Region=state; Address 1 - Zip=zip; Address 1 - Country=country; Labels; Email
    subscriber status; SMS subscriber status; Source; Created At (UTC+0); Birthdate=date_of_birth; Language`,
  PayPal: `Date; Time; TimeZone; Name; Type; Status; Currency=currency; Gross; Fee; Net; From Email Address; To
    Email Address; Transaction ID=order_id; Shipping Address; Address Line 1; Town/City=city;
    State/Province/Region/County/Territory/Prefecture/Republic=state; Zip/Postal Code=zip; Country=country; Contact
    Phone Number=phone; Subject; Country Code~country; Balance Impact`,
  Eventbrite: `Order #=order_id; Order Date=event_time; First Name=first_name; Last Name=last_name; Email=email;
    Quantity=num_items; Ticket Type; Attendee #; Total Paid=value; Eventbrite Fees; Attendee Status; Home Address 1;
    Home City=city; Home State=state; Home Zip=zip; Home Country=country; Cell Phone=phone; Gender=gender; Age;
    Birth Date=date_of_birth`,
  JTL: `Auftragsnummer=order_id; Kundennummer=external_id; Rechnung Anrede; Rechnung Vorname=first_name; Rechnung
    Nachname=last_name; Rechnung PLZ=zip; Rechnung Ort=city; Rechnung Land=country; E-Mail=email; Telefon=phone;
    Bestelldatum=event_time; Gesamtbetrag=value; Währung=currency; Zahlungsart`,
  Svensk: `Förnamn=first_name; Efternamn=last_name; E-post=email; Telefon=phone; Adress; Postnr=zip; Ort=city;
    Land=country; Kundnr=external_id; Skapad; Nyhetsbrev`,
  NL: `Klant-ID=external_id; Voorletters; Tussenvoegsel; Achternaam=last_name; E-mail adres=email; Telefoonnummer
    1=phone; Factuuradres postcode=zip; Factuuradres plaats; Afleveradres plaats; Geslacht=gender;
    Geb.datum=date_of_birth; Nieuwsbrief`,
  Allegro: `Nr zamówienia=order_id; Kupujący login; Kupujący e-mail=email; Kupujący imię=first_name; Kupujący
    nazwisko=last_name; Telefon=phone; Kod pocztowy=zip; Miejscowość=city; Kraj=country; Kwota łączna=value;
    Waluta=currency; Data zakupu=event_time; Ilość sztuk=num_items`,
  MailerLite: `Subscriber=email; Name; Last name=last_name; Country=country; City=city; Phone=phone; State=state;
    Z_i_p=zip; Location; Signup ip; Opted-in IP; Subscribed; Sent; Opens`,
  Eloqua: `Email Address=email; First Name=first_name; Last Name=last_name; Business Phone; Mobile Phone=phone;
    Company; Address 1; City=city; State or Province=state; Zip or Postal Code=zip; Country=country; Title; Email
    Display Name; Email Address Domain; Date Created`,
}

/** A name of a column, and the expected match. */
export type Header = {
  readonly name: string
  readonly expected: string | undefined
  readonly suggestedFor: string | undefined
}
/** The names of an export. */
export const headersOf = (text: string): Header[] =>
  text.split(';').map((part) => {
    const [, name = '', sign, field] = /^\s*(.*?)(?:([=~])(\w+))?\s*$/s.exec(part.replaceAll(/\s+/g, ' ')) ?? []
    return { name, expected: sign === '=' ? field : undefined, suggestedFor: sign === '~' ? field : undefined }
  })
