/** Texts of many scripts and kinds, whose tokens differ in length. */
export const TEXTS = {
  English:
    'The weather is fine today, so we went for a long walk in the park and talked about the books that we had read during the summer. Afterwards we drank some coffee.\n',
  German:
    'Das Wetter ist heute schön, deshalb sind wir im Park spazieren gegangen und haben über die Bücher gesprochen, die wir im Sommer gelesen hatten. Danach tranken wir Kaffee.\n',
  Vietnamese:
    'Hôm nay thời tiết rất đẹp, vì vậy chúng tôi đã đi dạo rất lâu trong công viên và nói về những cuốn sách đã đọc trong mùa hè.\n',
  Polish:
    'Dzisiaj jest piękna pogoda, więc poszliśmy na długi spacer po parku i rozmawialiśmy o książkach, które przeczytaliśmy latem.\n',
  Russian:
    'Сегодня прекрасная погода, поэтому мы долго гуляли в парке и говорили о книгах, которые прочитали летом. Потом мы выпили кофе.\n',
  Greek:
    'Ο καιρός είναι ωραίος σήμερα, γι’ αυτό πήγαμε μια μεγάλη βόλτα στο πάρκο και μιλήσαμε για τα βιβλία που διαβάσαμε το καλοκαίρι.\n',
  Chinese:
    '今天天气很好，我们去公园散步，谈论了我们夏天读过的书。之后我们喝了一杯咖啡，然后一起回家做饭，晚上又看了一场电影。\n',
  Japanese:
    '今日はとても天気がよかったので、公園を長い時間散歩して、夏に読んだ本について話しました。そのあとコーヒーを飲んで、一緒に家へ帰りました。\n',
  Korean:
    '오늘은 날씨가 아주 좋아서 공원을 오래 산책하면서 여름에 읽은 책에 대해 이야기했습니다. 그 후 우리는 커피를 마시고 함께 집으로 돌아갔습니다.\n',
  Thai: 'วันนี้อากาศดีมาก เราจึงไปเดินเล่นในสวนสาธารณะและพูดคุยเกี่ยวกับหนังสือที่เราอ่านในช่วงฤดูร้อน หลังจากนั้นเราก็ดื่มกาแฟและกลับบ้านด้วยกัน\n',
  Arabic:
    'الطقس جميل اليوم، لذلك ذهبنا في نزهة طويلة في الحديقة وتحدثنا عن الكتب التي قرأناها خلال الصيف. بعد ذلك شربنا القهوة وعدنا إلى المنزل معا.\n',
  Hebrew:
    'מזג האוויר יפה היום, אז יצאנו לטיול ארוך בפארק ודיברנו על הספרים שקראנו במהלך הקיץ. אחר כך שתינו קפה וחזרנו הביתה יחד.\n',
  Hindi:
    'आज मौसम बहुत अच्छा है, इसलिए हम पार्क में लंबी सैर पर गए और गर्मियों में पढ़ी गई किताबों के बारे में बात की। उसके बाद हमने कॉफी पी।\n',
  Tamil: 'இன்று வானிலை நன்றாக இருந்தது, எனவே நாங்கள் பூங்காவில் நீண்ட நடை சென்று கோடையில் படித்த புத்தகங்களைப் பற்றி பேசினோம்.\n',
  Bengali: 'আজ আবহাওয়া খুব ভালো, তাই আমরা পার্কে দীর্ঘ সময় হাঁটতে গিয়েছিলাম এবং গ্রীষ্মে পড়া বইগুলি নিয়ে কথা বলেছিলাম।\n',
  Georgian: 'დღეს კარგი ამინდია, ამიტომ პარკში დიდხანს ვისეირნეთ და ზაფხულში წაკითხულ წიგნებზე ვისაუბრეთ.\n',
  Burmese: 'ဒီနေ့ ရာသီဥတု သာယာတဲ့အတွက် ပန်းခြံထဲမှာ အကြာကြီး လမ်းလျှောက်ပြီး နွေရာသီမှာ ဖတ်ခဲ့တဲ့ စာအုပ်တွေအကြောင်း ပြောခဲ့ကြတယ်။\n',
  Amharic: 'ዛሬ አየሩ ጥሩ ነው፣ ስለዚህ በፓርኩ ውስጥ ረጅም የእግር ጉዞ አደረግን እና በበጋ ወቅት ስላነበብናቸው መጻሕፍት ተነጋገርን።\n',
  code: 'export function sum(values: readonly number[]): number {\n  let total = 0;\n  for (const value of values) {\n    if (!Number.isFinite(value)) throw new RangeError(`Not finite: ${value}`);\n    total += value;\n  }\n  return total;\n}\n',
  'minified code':
    '!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?t(exports):(e=e||self,t(e.a={}))}(this,function(e){"use strict";var n=[],r={};for(var i=0;i<n.length;++i)r[n[i]]=i*2;e.b=r});\n',
  JSON: '[{"id":123456,"name":"Ada Lovelace","tags":["a","b"],"price":12.5,"at":"2026-01-01T10:00:00Z"},{"id":123457,"name":"Alan Turing","tags":[],"price":0,"at":null}]\n',
  CSV: Array.from({ length: 8 }, (_, row) => `2026-01-${10 + row},shop ${row},${row * 37.5},EUR,paid\n`).join(
    '',
  ),
  table:
    '| name | value | price |\n|------|-------|-------|\n| a    | 1     | 2.50  |\n| b    | 2     | 3.50  |\n',
  log: '2026-01-02T10:11:12.345Z ERROR [worker-3] com.example.app.Service - Request 8f3a2b failed: java.net.SocketTimeoutException: Read timed out\n',
  URL: 'https://www.example.com/products/category/item?id=12345&utm_source=newsletter&utm_medium=email&session=abc123def456\n',
  base64: `${base64(300)}\n`,
  hashes: Array.from({ length: 6 }, (_, at) => `${hex(at * 5, 5)}\n`).join(''),
  numbers: Array.from({ length: 30 }, (_, at) => (at * 7_919) % 100_000).join(' '),
  mathematics: '∀x∈ℝ: ∃ε>0, ∫₀^∞ e^{-x²}dx = √π/2 ≈ 0.886, α·β ≤ γ ⇒ δ ≠ ∅\n',
  emoji: '😀😂🥰🎉🔥👍🏽👩‍💻🚀🌍❤️🇩🇪✅🤖🙈🦄🍕',
  'words and emoji': 'Great 🎉 see you later 👋 I love it ❤️ ok 👍 haha 😂😂 nice 🔥\n',
} as const;

function hex(from: number, count: number): string {
  const word = (at: number): string => ((at * 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  return Array.from({ length: count }, (_, at) => word(from + at + 1)).join('');
}

function base64(bytes: number): string {
  const values = Array.from({ length: bytes }, (_, at) => (at * 7_919 + ((at * at * 31) >> 3)) & 255);
  return Buffer.from(values).toString('base64');
}
